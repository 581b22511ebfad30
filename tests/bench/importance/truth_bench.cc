// SPDX-License-Identifier: Apache-2.0
//
// How near the shares of importance are to truths that are known, and how often
// their intervals hold them: uniform trials of the cases of a file of truths,
// normal noise of 0.3 deviations of the target, 10 seeds (with --quick 3).
//
//   mae.dD.nN.noise30.E          additive cases of D modules: mean |difference|
//                                of main effects in parts of their sum
//   rank_right.dD.nN.E           of those with distinct shares: all in order
//   mae_inter.dD.nN.E            as mae, cases with interactions
//   mae_pairs.dD.nN.E            these cases' pairs: mean |difference| of
//   shares mae_log.CASE.nN.noise30.E    four equal log-uniform rates
//   mae_cliff.d7.nN.E            cliffs, as mae; and mae_cliff_total: totals
//   mae_tpe.d7.nN.E              as mae, of trials that TPE made to maximise
//   the
//                                target; mae_tpe_inter: with interactions
//   coverage95.nN                95 % intervals of the default that hold a main
//                                effect of at least .01; d = 7, half additive;
//                                also coverage80, and .additive, .inter alone
//
// E: default, levels, forest, fanova-optuna, mdi. --truths FILE takes another
// file.
#include <cmath>
#include <exception>
#include <iostream>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "tests/bench/importance/truth_trials.h"

namespace frostline::bench {
namespace {

constexpr int kCoverageRuns = 108;  // of each half
constexpr double kLeastCovered = 0.01;

// NaN where two shares are the same: there is no right order.
double IsRankedRight(const std::vector<double>& truth,
                     const std::vector<double>& found) {
  for (std::size_t i = 0; i < truth.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (std::abs(truth[i] - truth[j]) < 1e-9) {
        return std::numeric_limits<double>::quiet_NaN();
      }
    }
  }
  for (std::size_t i = 0; i < truth.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if ((truth[i] > truth[j]) != (found[i] > found[j])) return 0.0;
    }
  }
  return 1.0;
}

double PairDifference(const test::Truth& truth,
                      const importance::Report& report) {
  double sum = 0.0;
  for (const importance::PairImportance& pair : report.pairs) {
    double share = 0.0;
    for (const test::TruthTerm& term : truth.terms) {
      if (term.axes ==
          std::vector<std::size_t>{static_cast<std::size_t>(pair.first),
                                   static_cast<std::size_t>(pair.second)}) {
        share += term.share;
      }
    }
    sum += std::abs(share - pair.share.value);
  }
  return report.pairs.empty() ? std::numeric_limits<double>::quiet_NaN()
                              : sum / static_cast<double>(report.pairs.size());
}

void Measure(const test::Truth& truth, int trials, int seeds,
             const std::vector<std::string>& evaluators, Means& means) {
  const Space space = truth.MakeSpace();
  const std::vector<double> shares = InPartsOfSum(MainShares(truth));
  const std::string size = ".d" + std::to_string(truth.modules) + ".n" +
                           std::to_string(trials) + ".";
  for (int seed = 0; seed < seeds; ++seed) {
    const History history = NoisyTrials(
        space, trials, SeedOf(truth.name, seed),
        [&truth](const Point& point) { return truth.Target(point); });
    for (const std::string& evaluator : evaluators) {
      const importance::Report report =
          Evaluated(space, history, evaluator, false);
      const std::vector<double> main = InPartsOfSum(MainOf(report));
      const double difference = MeanDifference(shares, main);
      if (!IsAdditive(truth)) {
        means.Add("mae_inter" + size + evaluator, difference);
        means.Add("mae_pairs" + size + evaluator,
                  PairDifference(truth, report));
        continue;
      }
      means.Add("mae" + size + "noise30." + evaluator, difference);
      means.Add("rank_right" + size + evaluator, IsRankedRight(shares, main));
    }
  }
}

// Four equal rates, by the place u of the rate's logarithm in its range.
void MeasureRates(int trials, int seeds,
                  const std::vector<std::string>& evaluators, Means& means) {
  std::vector<Parameter> parameters;
  for (int i = 0; i < 4; ++i) {
    parameters.push_back(
        {"p" + std::to_string(i), LogUniform{1e-10, 1e-5, false}, {}});
  }
  const Space space(parameters, {}, std::nullopt);
  // Deviations 1 / 2, so that four have 1; means do not matter.
  const std::map<std::string, double (*)(double)> shapes = {
      {"linear", [](double u) { return u * std::sqrt(3.0); }},
      {"step", [](double u) { return u > 0.5 ? 0.5 : -0.5; }},
      {"bump", [](double u) {
         return std::exp(-std::pow((u - 0.7) / 0.15, 2.0)) / (2.0 * 0.3515);
       }}};
  for (const auto& [name, shape] : shapes) {
    for (int seed = 0; seed < seeds; ++seed) {
      const History history =
          NoisyTrials(space, trials, SeedOf(name, seed),
                      [&form = shape](const Point& point) {
                        double sum = 0.0;
                        for (const double rate : point) {
                          sum += form(std::log10(rate / 1e-10) / 5.0);
                        }
                        return sum;
                      });
      for (const std::string& evaluator : evaluators) {
        const importance::Report report =
            Evaluated(space, history, evaluator, false);
        means.Add("mae_log." + name + ".n" + std::to_string(trials) +
                      ".noise30." + evaluator,
                  MeanDifference(std::vector<double>(4, 0.25),
                                 InPartsOfSum(MainOf(report))));
      }
    }
  }
}

// By their own deviation's noise, as the truths are by theirs.
void MeasureCliffs(int trials, int seeds,
                   const std::vector<std::string>& evaluators, Means& means) {
  const Space space = test::Truth{"", kCliffModules, 7, {}}.MakeSpace();
  const std::string n = ".n" + std::to_string(trials) + ".";
  for (const Cliff& cliff : Cliffs()) {
    for (int seed = 0; seed < seeds; ++seed) {
      const History history =
          NoisyTrials(space, trials, SeedOf(cliff.name, seed), cliff.target,
                      kTruthNoise * cliff.deviation);
      for (const std::string& evaluator : evaluators) {
        const importance::Report report =
            Evaluated(space, history, evaluator, false);
        means.Add("mae_cliff.d7" + n + evaluator,
                  MeanDifference(InPartsOfSum(cliff.main),
                                 InPartsOfSum(MainOf(report))));
        // NaN, and so left out, where an evaluator knows no totals.
        means.Add("mae_cliff_total.d7" + n + evaluator,
                  MeanDifference(cliff.total, TotalOf(report)));
      }
    }
  }
}

// Trials that a search made, of the cases with 7 modules.
void MeasureSearched(const std::vector<test::Truth>& truths, int trials,
                     int seeds, Means& means) {
  const std::string n = ".d7.n" + std::to_string(trials) + ".";
  for (const test::Truth& truth : truths) {
    if (truth.modules != 7) continue;
    const Space space = truth.MakeSpace();
    const std::vector<double> shares = InPartsOfSum(MainShares(truth));
    for (int seed = 0; seed < seeds; ++seed) {
      const History history = SearchedTrials(
          space, trials, SeedOf(truth.name, 5000 + seed),
          [&truth](const Point& point) { return truth.Target(point); }, "tpe");
      for (const std::string evaluator :
           {"default", "forest", "fanova-optuna", "mdi"}) {
        const importance::Report report =
            Evaluated(space, history, evaluator, false);
        means.Add(
            (IsAdditive(truth) ? "mae_tpe" : "mae_tpe_inter") + n + evaluator,
            MeanDifference(shares, InPartsOfSum(MainOf(report))));
      }
    }
  }
}

void Cover(const test::Truth& truth, int trials, int runs,
           const std::string& half, Means& means) {
  const Space space = truth.MakeSpace();
  const std::vector<double> shares = MainShares(truth);
  for (int run = 0; run < runs; ++run) {
    const History history = NoisyTrials(
        space, trials, SeedOf(truth.name, 1000 + run),
        [&truth](const Point& point) { return truth.Target(point); });
    const importance::Report report =
        Evaluated(space, history, "default", true);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (shares[i] < kLeastCovered - 1e-9) continue;
      const importance::Interval& main = report.parameters[i].main;
      const std::string end = ".n" + std::to_string(trials) + half;
      means.Add("coverage95" + end,
                shares[i] >= main.lo95 && shares[i] <= main.hi95);
      means.Add("coverage80" + end,
                shares[i] >= main.lo80 && shares[i] <= main.hi80);
    }
  }
}

void PrintCoverage(const Bench& bench, const std::vector<test::Truth>& truths,
                   int trials) {
  std::map<bool, std::vector<const test::Truth*>> halves;
  for (const test::Truth& truth : truths) {
    if (truth.modules == 7) halves[IsAdditive(truth)].push_back(&truth);
  }
  Means means;
  for (const auto& [additive, cases] : halves) {
    const int runs = kCoverageRuns / (bench.quick() ? 4 : 1) /
                     static_cast<int>(cases.size());
    for (const test::Truth* const truth : cases) {
      Cover(*truth, trials, std::max(runs, 1),
            additive ? ".additive" : ".inter", means);
    }
  }
  means.Print(bench);
  for (const std::string key : {"coverage95", "coverage80"}) {
    const std::string start = key + ".n" + std::to_string(trials);
    bench.Figure(
        start,
        (means.Of(start + ".additive") + means.Of(start + ".inter")) / 2.0);
  }
}

void Run(const Bench& bench) {
  const std::vector<test::Truth> truths = BenchTruths(bench);
  const int seeds = bench.quick() ? 3 : 10;
  std::vector<std::string> evaluators = {"default"};
  if (!bench.quick())
    evaluators.insert(evaluators.end(), {"levels", "fanova-optuna", "mdi"});
  for (const int trials : {100, 300, 1000}) {
    Means means;
    for (const test::Truth& truth : truths) {
      Measure(truth, trials, seeds, evaluators, means);
    }
    MeasureRates(trials, seeds, {"default"}, means);
    MeasureCliffs(trials, seeds, {"default", "levels", "forest"}, means);
    if (trials <= 300) MeasureSearched(truths, trials, seeds / 3, means);
    means.Print(bench);
  }
  for (const int trials : {100, 300}) PrintCoverage(bench, truths, trials);
}

}  // namespace
}  // namespace frostline::bench

int main(int argc, char** argv) {
  return frostline::bench::RunBench(argc, argv, "--truths",
                                    frostline::bench::Run);
}
