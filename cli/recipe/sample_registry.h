// SPDX-License-Identifier: Apache-2.0
//
// File: sample_registry.h
//
// The registry of the scale `sample`: a model with random weights and a few
// sentences for each task. The program carries it, so that a recipe can be
// tried where nothing is registered.
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

// What the registry has, before it is written.
RecipeStock StockOfSamples();

// Writes it, over what an earlier run has left. Failing is STORE_UNWRITABLE.
absl::Status MakeSampleRegistry(const std::string& folder);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_RECIPE_SAMPLE_REGISTRY_H_
