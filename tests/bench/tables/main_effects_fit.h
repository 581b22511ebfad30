// SPDX-License-Identifier: Apache-2.0
//
// File: main_effects_fit.h
//
// Main effects of a table with gaps: least squares on the cells that were
// recorded. The cells are taken for an even sample of the space, so the total
// variance is theirs; a level that no cell has is left without an effect.
#ifndef FROSTLINE_TESTS_BENCH_TABLES_MAIN_EFFECTS_FIT_H_
#define FROSTLINE_TESTS_BENCH_TABLES_MAIN_EFFECTS_FIT_H_

#include <vector>

#include "tests/bench/tables/recorded_table.h"

namespace frostline::bench {

struct FittedMain {
  std::vector<double> shares;
  std::vector<double> errors;  // over cells drawn anew (bootstrap)
  double variance = 0.0;
};

// `noise`: variance of a cell's mean. What it and the interactions are expected
// to add to an estimated effect is taken off.
FittedMain FitMainEffects(const RecordedTable& table, double noise);

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_TABLES_MAIN_EFFECTS_FIT_H_
