// SPDX-License-Identifier: Apache-2.0
//
// What it costs importance that a sampler chose the trials, and whether
// anything takes it away: histories of our own samplers, which maximise the
// truths' targets under noise of 0.3 of their deviation, beside uniform ones.
// Cases with 7 modules in turn, 48 runs at 100 trials and 24 at 300 (with
// --quick 12 and 6).
//
//   mae.K.nN.H.E        main effects in parts of their sum: mean |difference|
//                       from the truth over modules, K additive, inter, cliff
//   strongest.K.nN.H.E  found less true share of the strongest module …
//   weakest.K.nN.H.E    … and of the weakest
//   better.K.nN.H.C     mae of what C corrects less that of C, by the standard
//                       error of that mean over runs: above 0, C is better
//   kish.K.nN.H         effective part of the trials by their weights
//   coverage95.K.nN.H   95 % intervals of the default that hold a main effect
//                       of at least .01
//   warned.K.nN.H       runs whose report warns of adaptive sampling
//
// H: uniform, tpe, levels-gp; tpe-random is tpe with a last third at random.
// E: default, effects, effects_weighted, forest, forest_weighted,
// forest_honest, forest_both (adaptive_forests.h, weighted_levels.h).
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/bench/importance/adaptive_forests.h"
#include "tests/bench/importance/adaptive_trials.h"
#include "tests/bench/importance/truth_trials.h"
#include "tests/bench/importance/weighted_levels.h"

namespace frostline::bench {
namespace {

constexpr std::uint64_t kSeed = 0;  // of forests
constexpr double kLeastCovered = 0.01;

using MainByEstimator = std::map<std::string, std::vector<double>>;

MainByEstimator Estimate(const importance::Dataset& data,
                         const std::vector<double>& weights,
                         const importance::Report& report) {
  const EffectsMain effects = FitEffects(data, weights);
  return {{"default", MainOf(report)},
          {"effects", effects.plain},
          {"effects_weighted", effects.weighted},
          {"forest", ForestMain(data, {}, kSeed)},
          {"forest_weighted", ForestMain(data, {.weighted = true}, kSeed)},
          {"forest_honest", ForestMain(data, {.honest = true}, kSeed)},
          {"forest_both", ForestMain(data, {true, true}, kSeed)}};
}

bool WarnsOfSampling(const importance::Report& report) {
  return std::any_of(report.warnings.begin(), report.warnings.end(),
                     [](const importance::ReportWarning& w) {
                       return w.code == "ADAPTIVE_SAMPLING";
                     });
}

// What was measured on histories of one kind, size and sort.
class Cell {
 public:
  explicit Cell(std::string name) : name_(std::move(name)) {}

  void Add(const AdaptiveCase& one, const History& history) {
    const importance::Dataset data = DatasetOf(one.space, history);
    const std::vector<double> weights = SamplingWeights(data);
    const importance::Report report =
        Evaluated(one.space, history, "default", true);
    AddCoverage(one, report);
    means_.Add("warned." + name_, WarnsOfSampling(report));
    means_.Add("kish." + name_,
               EffectiveTrials(weights) / static_cast<double>(data.rows()));
    const std::vector<double> truth = InPartsOfSum(one.shares);
    const auto strongest = static_cast<std::size_t>(
        std::max_element(truth.begin(), truth.end()) - truth.begin());
    const auto weakest = static_cast<std::size_t>(
        std::min_element(truth.begin(), truth.end()) - truth.begin());
    for (auto& [estimator, main] : Estimate(data, weights, report)) {
      const std::vector<double> found = InPartsOfSum(main);
      const std::string end = name_ + "." + estimator;
      runs_[estimator].push_back(MeanDifference(truth, found));
      means_.Add("mae." + end, runs_[estimator].back());
      means_.Add("strongest." + end, found[strongest] - truth[strongest]);
      means_.Add("weakest." + end, found[weakest] - truth[weakest]);
    }
  }

  void Print(const Bench& bench) const {
    means_.Print(bench);
    bench.Figure("better." + name_ + ".effects_weighted",
                 Better("effects", "effects_weighted"));
    for (const std::string forest :
         {"forest_weighted", "forest_honest", "forest_both"}) {
      bench.Figure("better." + name_ + "." + forest, Better("forest", forest));
    }
  }

 private:
  void AddCoverage(const AdaptiveCase& one, const importance::Report& report) {
    for (std::size_t i = 0; i < one.shares.size(); ++i) {
      if (one.shares[i] < kLeastCovered - 1e-9) continue;
      const importance::Interval& main = report.parameters[i].main;
      means_.Add("coverage95." + name_,
                 one.shares[i] >= main.lo95 && one.shares[i] <= main.hi95);
    }
  }

  double Better(const std::string& plain, const std::string& corrected) const {
    const std::vector<double>& before = runs_.at(plain);
    const std::vector<double>& after = runs_.at(corrected);
    const auto n = static_cast<double>(before.size());
    double mean = 0.0;
    double squares = 0.0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      mean += (before[i] - after[i]) / n;
      squares += (before[i] - after[i]) * (before[i] - after[i]);
    }
    return mean / std::sqrt((squares - n * mean * mean) / (n - 1.0) / n);
  }

  std::string name_;
  Means means_;
  std::map<std::string, std::vector<double>> runs_;  // mae, by estimator
};

void Run(const Bench& bench) {
  const std::vector<test::Truth> truths = BenchTruths(bench);
  for (const int trials : {100, 300}) {
    const int runs = (trials == 100 ? 48 : 24) / (bench.quick() ? 4 : 1);
    for (const std::string kind : {"additive", "inter", "cliff"}) {
      const std::vector<AdaptiveCase> cases = AdaptiveCases(truths, kind);
      for (const std::string sort :
           {"uniform", "tpe", "tpe-random", "levels-gp"}) {
        Cell cell(absl::StrCat(kind, ".n", trials, ".", sort));
        for (int run = 0; run < runs; ++run) {
          const auto number = static_cast<std::size_t>(run);
          const AdaptiveCase& one = cases[number % cases.size()];
          const int seed = static_cast<int>(number / cases.size());
          cell.Add(one, AdaptiveTrials(one, sort, trials, seed));
        }
        cell.Print(bench);
      }
    }
  }
}

}  // namespace
}  // namespace frostline::bench

int main(int argc, char** argv) {
  return frostline::bench::RunBench(argc, argv, "--truths",
                                    frostline::bench::Run);
}
