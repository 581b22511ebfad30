// SPDX-License-Identifier: Apache-2.0
//
// File: demo_recipe.h
//
// recipes/demo/study.yaml, built in, so that the demo runs from anywhere.
#ifndef FROSTLINE_CLI_DEMO_RECIPE_H_
#define FROSTLINE_CLI_DEMO_RECIPE_H_

namespace frostline {

extern const char kDemoRecipe[];

}  // namespace frostline

#endif  // FROSTLINE_CLI_DEMO_RECIPE_H_
