// SPDX-License-Identifier: Apache-2.0
//
// File: table_truth.h
//
// Main effects of a table with gaps: least squares on the cells that were
// recorded. The cells are taken for an even sample of the space, so the total
// variance is theirs; a level that no cell has is left without an effect.
#ifndef FROSTLINE_TESTS_BENCH_TABLES_TABLE_TRUTH_H_
#define FROSTLINE_TESTS_BENCH_TABLES_TABLE_TRUTH_H_

#include <limits>
#include <utility>
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

// What a recorded table says is true: the mean over seeds of each cell, its
// shares of variance under the counting measure, its best cell, its noise.
//
// A complete table gives the shares exactly, but for what noise is left in the
// means: what noise is expected to add to a share is taken off. Of a table with
// gaps the main effects are those of a least-squares fit to the recorded cells,
// with an error of their own; pairs and the rest are not known.
struct TableNoise {
  double deviation = 0.0;         // of one run about its cell's mean
  double median_deviation = 0.0;  // of the median cell
  // Variance of a cell's mean over seeds; what a seed does to all cells alike
  // is no part of it.
  double variance_of_mean = 0.0;
};

struct TablePair {
  std::size_t first = 0;
  std::size_t second = 0;
  double share = 0.0;
};

struct TableTruth {
  bool complete = false;
  double variance = 0.0;  // of the mean surface
  TableNoise noise;
  std::vector<double> main;         // by parameter
  std::vector<double> main_errors;  // by noise and gaps: standard errors
  std::vector<TablePair> pairs;     // strongest first; empty with gaps
  double rest = std::numeric_limits<double>::quiet_NaN();  // beyond pairs
  const RecordedCell* best = nullptr;
  // Scores by cell (greater is better) without the noise that is expected in
  // their means; empty with gaps. The best of many noisy means is too good.
  std::vector<double> steady;
  double best_steady = 0.0;
};

// Scores of a complete table, each term of its decomposition (mean, main
// effects, pairs, …) shrunk by what noise is expected to have added to the
// terms of its order (James and Stein, 1961).
std::vector<double> SteadyScores(const RecordedTable& table, double noise);

TableNoise NoiseOf(const RecordedTable& table);
// Deviation of one run of a cell: what its own seeds say, and where they are
// few also what the median cell says.
double DeviationOfRun(const RecordedCell& cell, const TableNoise& noise);
// Keeps pointers into the table.
TableTruth TruthOf(const RecordedTable& table);

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_TABLES_TABLE_TRUTH_H_
