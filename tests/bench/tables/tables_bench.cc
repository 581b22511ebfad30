// SPDX-License-Identifier: Apache-2.0
//
// Samplers, importance and plans on recorded tables of real fine-tunings: what
// a study of the table says, held against the table (docs/measured/tables.md).
// T: a table; H: random, tpe, levels-gp, auto, and .w8 where eight trials run
// at a time; N: 36, 100, 200 trials; 30 seeds (with --quick 5).
//
//   truth.T.…                shares, noise and best value of the table itself
//   mae.T.H.nN.E             main effects in parts of their sum: mean
//                            |difference|; E: default, fanova-optuna, mdi
//   cover95.T.H.nN, width95  95 % intervals of main effects of .01 and more
//   cover95_seeds            the same, allowing for the error of the truth
//   plan_cover80.T.H.nN      the predicted 80 % interval holds the true score
//   plan_cover80_seeds       the same, allowing for the few seeds of the truth
//   run_cover80              the 80 % interval of one run holds each recorded
//   run
//                            of the planned cell
//   best_cover80, _seeds     that of the best trial's mean holds its true score
//   frozen_cover80_seeds     that of the set that trains nothing
//   plan_regret, best_trial_regret   what is lacking of the best cell
//   …_regret_seeds           the same, of means without their noise: the best
//   of
//                            many noisy means is too good (complete tables)
//   plan_not_worse           truly at most the tolerance below the best trial
//   plan_promise             predicted less true: above 0 it promises too much
//   plan_impossible          an end of an interval that no accuracy can have
//   advice, advice_right     parameters that a plan has advice on; of those,
//                            the ones that the table bears out
//   frontier_cover80, _seeds, _width80, _impossible   as plan_, of all its sets
//   frontier_named, _right   it names a smallest set within the tolerance; of
//                            those, the ones in which that is true;
//                            _right_seeds as _regret_seeds
//   contradict.T.nN          pairs of studies of T, one of which says to freeze
//                            a module that the other says to train
//   best.T.N.median.H        true value of the trial that looks best
//   refused.T.H.nN.E         studies that were not answered
//
// Flags: --table, --history, --n, --seeds, --what, --data DIR, --threads,
// --minutes: after so many no further run begins, and `runs` says how many did.
#include <algorithm>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "tests/bench/bench_main.h"
#include "tests/bench/tables/tables_run.h"

namespace frostline::bench {
namespace {

void PrintTruth(const Bench& bench, const RecordedTable& table,
                const TableTruth& truth) {
  const std::string start = "truth." + table.name + ".";
  const auto name = [&table](std::size_t axis) {
    return table.space.parameters()[axis].name;
  };
  for (std::size_t i = 0; i < truth.main.size(); ++i) {
    bench.Figure(start + "main." + name(i), truth.main[i]);
    bench.Figure(start + "main_error." + name(i), truth.main_errors[i]);
  }
  double pairs = 0.0;
  for (const TablePair& pair : truth.pairs) {
    pairs += pair.share;
    bench.Figure(start + "pair." + name(pair.first) + "_" + name(pair.second),
                 pair.share);
  }
  if (truth.complete) {
    bench.Figure(start + "pairs", pairs);
    bench.Figure(start + "rest", truth.rest);
  }
  bench.Figure(start + "cells", static_cast<double>(table.cells.size()));
  bench.Figure(start + "deviation", std::sqrt(truth.variance));
  bench.Figure(start + "noise", truth.noise.deviation);
  bench.Figure(start + "noise_median", truth.noise.median_deviation);
  bench.Figure(start + "best", truth.best->Mean());
}

int Run(int argc, char** argv) {
  const TablesOptions options = ReadTablesOptions(argc, argv);
  const Bench bench(1, argv);
  const std::vector<RecordedTable> tables = TablesOf(options);
  std::vector<TableTruth> truths;
  for (const RecordedTable& table : tables) {
    truths.push_back(TruthOf(table));
    PrintTruth(bench, table, truths.back());
  }
  TableFigures figures;
  JudgeAll(tables, truths, options, figures);
  figures.Print(bench);
  return 0;
}

}  // namespace
}  // namespace frostline::bench

int main(int argc, char** argv) {
  try {
    return frostline::bench::Run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
