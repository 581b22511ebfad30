// SPDX-License-Identifier: Apache-2.0
//
// File: demo_recipe.h
#ifndef FROSTLINE_CLI_DEMO_DEMO_RECIPE_H_
#define FROSTLINE_CLI_DEMO_DEMO_RECIPE_H_

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

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_DEMO_DEMO_RECIPE_H_
