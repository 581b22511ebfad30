// SPDX-License-Identifier: Apache-2.0
//
// File: demo_registry.h
#ifndef FROSTLINE_CLI_DEMO_DEMO_REGISTRY_H_
#define FROSTLINE_CLI_DEMO_DEMO_REGISTRY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace frostline::cli {

extern const char kDemoRecipe[];       // demo.yaml
extern const char kDepthRecipe[];      // depth.yaml
extern const char kSyntheticRecipe[];  // study.yaml
extern const char kExampleRecipe[];    // example.yaml
extern const char kExampleTrials[];    // example.jsonl

extern const char kDemoTrain[];       // reviews/train.tsv
extern const char kDemoValidation[];  // reviews/validation.tsv

// It is in the cache of `./dev setup`, named after the pins in
// scripts/requirements-demo-model.txt.
extern const char kDemoModelFolder[];

// Returns `named`, else where `./dev setup` has put it ($FROSTLINE_CACHE,
// $XDG_CACHE_HOME/frostline or ~/.cache/frostline). It answers TRAINER_FILE,
// saying how to get it, when it is not there.
absl::StatusOr<std::string> FindDemoModel(const std::string& named);

// Links the model's files, or copies them from another file system: a registry
// does not follow links out of its folder, so these are hard ones.
absl::Status MakeDemoRegistry(const std::string& folder,
                              const std::string& model);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_DEMO_DEMO_REGISTRY_H_
