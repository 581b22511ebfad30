// SPDX-License-Identifier: Apache-2.0
//
// File: truth_trials.h
//
// What the benchmarks of importance share: trials of known truths, what a
// report says of them, and means of what is measured, by key.
#ifndef FROSTLINE_TESTS_BENCH_IMPORTANCE_TRUTH_TRIALS_H_
#define FROSTLINE_TESTS_BENCH_IMPORTANCE_TRUTH_TRIALS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "importance/evaluator.h"
#include "study/objective.h"
#include "tests/bench/bench_main.h"
#include "tests/search/truths.h"

namespace frostline::bench {

inline constexpr double kTruthNoise = 0.3;  // deviations of the target

using PointTarget = std::function<double(const Point&)>;

class Means {
 public:
  // NaN is not counted.
  void Add(const std::string& key, double value);
  double Of(const std::string& key) const;  // NaN when there is none
  void Print(const Bench& bench) const;

 private:
  std::map<std::string, std::pair<double, int>> sums_;
};

// Those of `bench.file()`, or the repository's own.
std::vector<test::Truth> BenchTruths(const Bench& bench);

bool IsAdditive(const test::Truth& truth);
std::vector<double> MainShares(const test::Truth& truth);
std::vector<double> TotalShares(const test::Truth& truth);
std::vector<double> InPartsOfSum(std::vector<double> values);
double MeanDifference(const std::vector<double>& a,
                      const std::vector<double>& b);

// Other points and other noise for each case.
std::uint64_t SeedOf(const std::string& name, int run);
History NoisyTrials(const Space& space, int trials, std::uint64_t seed,
                    const PointTarget& target, double noise = kTruthNoise);
// As the sampler proposes them one after the other, to maximise the target.
History SearchedTrials(const Space& space, int trials, std::uint64_t seed,
                       const PointTarget& target, const std::string& sampler,
                       Purpose purpose = Purpose::kBest);

// "default" stands for the default evaluator. Throws std::runtime_error.
importance::Report Evaluated(const Space& space, const History& history,
                             const std::string& evaluator, bool intervals);
std::vector<double> MainOf(const importance::Report& report);
std::vector<double> TotalOf(const importance::Report& report);

// A target over seven-level modules that collapses where several of them lie
// high together, or any of them does: its shares by listing all levels.
struct Cliff {
  std::string name;
  PointTarget target;
  std::vector<double> main;
  std::vector<double> total;
  double deviation = 1.0;
};

inline constexpr int kCliffModules = 7;
std::vector<Cliff> Cliffs();

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_IMPORTANCE_TRUTH_TRIALS_H_
