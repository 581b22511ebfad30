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
extern const char kRatesRecipe[];      // rates.yaml
extern const char kSyntheticRecipe[];  // study.yaml
extern const char kExampleRecipe[];    // example.yaml
extern const char kExampleTrials[];    // example.jsonl

extern const char kDemoTrain[];       // reviews/train.tsv
extern const char kDemoValidation[];  // reviews/validation.tsv

// The folder of the model in the cache of `./dev setup`. Its name comes from
// the versions in scripts/requirements-demo-model.txt.
extern const char kDemoModelFolder[];

// Returns `named`, or the folder where `./dev setup` puts the model (below
// $FROSTLINE_CACHE, $XDG_CACHE_HOME/frostline or ~/.cache/frostline). If the
// model is not there, returns TRAINER_FILE with the way to get it.
absl::StatusOr<std::string> FindDemoModel(const std::string& named);

// Makes the registry. It hard-links the model's files, because a registry does
// not follow symbolic links out of its folder, or copies them from another file
// system.
absl::Status MakeDemoRegistry(const std::string& folder,
                              const std::string& model);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_DEMO_DEMO_REGISTRY_H_
