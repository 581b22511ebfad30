// SPDX-License-Identifier: Apache-2.0
//
// File: small_recipe.h
//
// A recipe of three stages: a search of a rate, runs for each language with
// that rate, and a second search that runs only where its data are.
#ifndef FROSTLINE_TESTS_CLI_RECIPE_SMALL_RECIPE_H_
#define FROSTLINE_TESTS_CLI_RECIPE_SMALL_RECIPE_H_

#include <string>

namespace frostline::cli {

inline std::string SmallRecipe() {
  return R"(recipe: first-layers
format: 1
title: How many first layers
question: What is lost?
highest_layer_rate: 1e-4
models:
  mini: {what: MiniLM, where: a package, layers: 4, no_pooler: false}
data:
  ewt: {what: UD English EWT, where: the web, add: frostline registry add dataset ewt.conllu}
scales:
  tiny: {about: small, model: mini, rows: 60, seeds: [1, 2]}
  full: {model: mini, rows: ~, seeds: [1, 2, 3]}
stages:
  line:
    study:
      model: {id: "${model}", layers: "${layers}"}
      data: ewt
      maximize: accuracy
      budget: 4
      space:
        modules: {"layer.*": [0, 1e-5]}
        parameters: {rate: {float: [1e-5, 5e-5]}}
  frozen:
    each: {english: {set: ewt}, pidgin: {set: naija}}
    skip_without_data: true
    runs:
      all trained: {strategy: {full: 1e-5}, at: 0}
      "first ${n}":
        for: {n: {from: 1, to: "${layers / 2}"}}
        strategy: {first_k: {k: "${n}", rate: "${line.best.rate}"}}
        at: "${n}"
    compare: {to: all trained, metric: test.accuracy, margin: 0.01}
    study:
      model: {id: "${model}", layers: "${layers}"}
      data: {id: "${set}", train_rows: "${rows}", test_split: test}
      maximize: accuracy
      space: {modules: {"layer.*": [0, 1e-3]}}
published:
  frozen-english:
    examples: 544
    runs:
      all trained: {accuracy: 0.93}
      first 1: {accuracy: 0.92, seconds: 10}
)";
}

}  // namespace frostline::cli

#endif  // FROSTLINE_TESTS_CLI_RECIPE_SMALL_RECIPE_H_
