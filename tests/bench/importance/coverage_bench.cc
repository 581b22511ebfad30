// SPDX-License-Identifier: Apache-2.0
//
// How often the intervals of importance hold what is true: uniform trials of
// the cases with 7 modules of a file of truths, half of the runs additive and
// half with interactions, normal noise of 0.3 deviations; main effects, totals
// and pairs with a true share of at least .01.
//
//   coverage95.nN         main effects; also coverage80
//   coverage95.nN.H       of one half: additive, inter
//   coverage95.W.nN       W: total, pair
//   coverage95.cliff.nN   main effects of cliffs; also .cliff_total
//
// 108 runs of each half (with --quick 24). --truths FILE takes another file.
#include <algorithm>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "tests/bench/importance/truth_trials.h"

namespace frostline::bench {
namespace {

constexpr double kLeastCovered = 0.01 - 1e-9;

void Count(const std::string& end, double truth,
           const importance::Interval& interval, Means& means) {
  if (truth < kLeastCovered) return;
  means.Add("coverage95" + end,
            truth >= interval.lo95 && truth <= interval.hi95);
  means.Add("coverage80" + end,
            truth >= interval.lo80 && truth <= interval.hi80);
}

double PairShare(const test::Truth& truth,
                 const importance::PairImportance& pair) {
  double share = 0.0;
  for (const test::TruthTerm& term : truth.terms) {
    if (term.axes ==
        std::vector<std::size_t>{static_cast<std::size_t>(pair.first),
                                 static_cast<std::size_t>(pair.second)}) {
      share += term.share;
    }
  }
  return share;
}

void Cover(const test::Truth& truth, int trials, int run, Means& means) {
  const Space space = truth.MakeSpace();
  const History history =
      NoisyTrials(space, trials, SeedOf(truth.name, 1000 + run),
                  [&truth](const Point& point) { return truth.Target(point); });
  const importance::Report report = Evaluated(space, history, "default", true);
  const std::string n = ".n" + std::to_string(trials);
  const std::string half = IsAdditive(truth) ? ".additive" : ".inter";
  const std::vector<double> main = MainShares(truth);
  const std::vector<double> total = TotalShares(truth);
  for (std::size_t i = 0; i < main.size(); ++i) {
    Count(n + half, main[i], report.parameters[i].main, means);
    Count(".total" + n, total[i], report.parameters[i].total, means);
  }
  for (const importance::PairImportance& pair : report.pairs) {
    Count(".pair" + n, PairShare(truth, pair), pair.share, means);
  }
}

void CoverCliff(const Cliff& cliff, int trials, int run, Means& means) {
  const test::Truth seven{"", kCliffModules, 7, {}};
  const Space space = seven.MakeSpace();
  const History history =
      NoisyTrials(space, trials, SeedOf(cliff.name, 1000 + run), cliff.target,
                  kTruthNoise * cliff.deviation);
  const importance::Report report = Evaluated(space, history, "default", true);
  const std::string n = ".n" + std::to_string(trials);
  for (std::size_t i = 0; i < cliff.main.size(); ++i) {
    Count(".cliff" + n, cliff.main[i], report.parameters[i].main, means);
    Count(".cliff_total" + n, cliff.total[i], report.parameters[i].total,
          means);
  }
}

void Run(const Bench& bench) {
  const int runs = bench.quick() ? 24 : 108;
  std::vector<test::Truth> halves[2];
  for (test::Truth& truth : BenchTruths(bench)) {
    if (truth.modules == 7) halves[IsAdditive(truth)].push_back(truth);
  }
  const std::vector<Cliff> cliffs = Cliffs();
  for (const int trials : {50, 100, 300, 1000}) {
    Means means;
    for (const std::vector<test::Truth>& cases : halves) {
      for (int run = 0; run < runs && !cases.empty(); ++run) {
        const std::size_t n = cases.size();
        Cover(cases[static_cast<std::size_t>(run) % n], trials, run, means);
      }
    }
    for (int run = 0; run < runs / 3; ++run) {
      CoverCliff(cliffs[static_cast<std::size_t>(run) % cliffs.size()], trials,
                 run, means);
    }
    means.Print(bench);
    for (const std::string key : {"coverage95", "coverage80"}) {
      const std::string start = key + ".n" + std::to_string(trials);
      bench.Figure(
          start,
          (means.Of(start + ".additive") + means.Of(start + ".inter")) / 2.0);
    }
  }
}

}  // namespace
}  // namespace frostline::bench

int main(int argc, char** argv) {
  return frostline::bench::RunBench(argc, argv, "--truths",
                                    frostline::bench::Run);
}
