// SPDX-License-Identifier: Apache-2.0
//
// File: weighted_levels.h
//
// Level effects in which trials count by how seldom their like was tried.
#ifndef FROSTLINE_TESTS_BENCH_IMPORTANCE_WEIGHTED_LEVELS_H_
#define FROSTLINE_TESTS_BENCH_IMPORTANCE_WEIGHTED_LEVELS_H_

#include <vector>

#include "importance/measure/dataset.h"

namespace frostline::bench {

struct EffectsMain {
  std::vector<double> plain;     // as LevelEffects::Variance has them
  std::vector<double> weighted;  // the same terms by weighted least squares
};

// By axis.
EffectsMain FitEffects(const importance::Dataset& data,
                       const std::vector<double>& weights);

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_IMPORTANCE_WEIGHTED_LEVELS_H_
