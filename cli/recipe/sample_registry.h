// SPDX-License-Identifier: Apache-2.0
//
// File: sample_registry.h
//
// The registry of the scale `sample`: a model with random weights and a few
// sentences for each task. It is built into the program, so that a recipe can
// be tried without any registered model or data.
#ifndef FROSTLINE_CLI_RECIPE_SAMPLE_REGISTRY_H_
#define FROSTLINE_CLI_RECIPE_SAMPLE_REGISTRY_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "cli/recipe/recipe_survey.h"

namespace frostline::cli {

inline constexpr char kSampleScale[] = "sample";

struct SampleFile {
  std::string_view path;  // below recipes/samples
  std::string_view content;
};

const std::vector<SampleFile>& SampleFiles();

// Returns the contents of the registry, without writing it.
RecipeStock StockOfSamples();

// Writes the registry, over the one of an earlier run. Returns STORE_UNWRITABLE
// on failure.
absl::Status MakeSampleRegistry(const std::string& folder);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_RECIPE_SAMPLE_REGISTRY_H_
