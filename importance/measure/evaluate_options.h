// SPDX-License-Identifier: Apache-2.0
//
// File: evaluate_options.h
//
// The options of an evaluation. evaluator.h says what is refused.
#ifndef FROSTLINE_IMPORTANCE_MEASURE_EVALUATE_OPTIONS_H_
#define FROSTLINE_IMPORTANCE_MEASURE_EVALUATE_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace frostline::importance {

// The ends hold the number in 80 % and 95 % of cases. All are equal where no
// spread is known:
//
//   lo95 <= lo80 <= value <= hi80 <= hi95
struct Interval {
  double value = 0.0;
  double lo80 = 0.0;
  double hi80 = 0.0;
  double lo95 = 0.0;
  double hi95 = 0.0;
};

using NamedSubsets = std::vector<std::vector<int>>;  // in any order

inline constexpr std::size_t kMaxSubset = 8;    // parameters in one
inline constexpr std::size_t kMaxSubsets = 64;  // in one report

// The variance or the share of a set of parameters; who returns it says which.
struct SubsetVariance {
  double together = 0.0;  // Var E[f | x_S]: all effects within S
  // All of S has this alone: `together` less effects of all subsets (Hutter et
  // al., 2014, eq. 7).
  double beyond = 0.0;
};

// Fails with REQUEST_INVALID at options.subsets[…] for an empty set, one above
// kMaxSubset, an unknown parameter or one named twice; at options.subsets above
// kMaxSubsets.
absl::Status CheckSubsets(const NamedSubsets& subsets, std::size_t parameters);

// Counts about `work` steps for each parameter of a larger set than one.
// Fails with REQUEST_INVALID if all of them would take minutes.
absl::Status CheckSubsetWork(const NamedSubsets& subsets, double work);

// What `ped-anova` alone is asked.
struct PedAnovaOptions {
  double target_quantile = 0.1;  // so many of all trials are good
  // A parameter that some trials lack is judged among those that have it
  // (Optuna 5). Else it is left out, and at least two trials are good (Optuna
  // 4).
  bool conditional = true;
  bool local = true;  // against the region's trials, not the space
};

// What an evaluator is asked.
struct EvaluateOptions {
  std::string evaluator = "fanova";
  std::string target;         // an objective's metric; empty: the first
  double top_quantile = 1.0;  // only this share, the best by best_by
  std::string best_by;        // an objective's metric; empty: the target
  std::uint64_t seed = 0;
  int trees = 64;
  int bootstraps = 64;  // for intervals; 0: none
  // Without bootstraps: intervals where they take no further fit, of fewer
  // draws. They are for many reports beside one another.
  bool cheap_intervals = false;
  bool pairs = true;
  NamedSubsets subsets;       // for fanova, forest and levels
  int threads = 0;            // 0: one for each core; changes no number
  PedAnovaOptions ped_anova;  // for ped-anova alone
  // Once a stop is requested the answer is CANCELLED, soon: what goes on
  // meanwhile leaves its work undone, and nobody believes it.
  std::stop_token stop = {};
};

// Returns CANCELLED once a stop was requested.
inline absl::Status CheckStop(const std::stop_token& stop) {
  if (!stop.stop_requested()) return absl::OkStatus();
  return absl::CancelledError("the computation was stopped");
}

inline constexpr int kMinTrials = 8;

// Runs a body for each index on several threads. Which thread gets an index is
// chance, so a body writes only what belongs to its index, and the caller adds
// up in order: then no number depends on threads.
//
//   std::vector<Tree> trees(count);
//   ParallelFor(threads, count, [&](std::size_t i) { trees[i] = Grow(i); });

inline constexpr int kMaxThreads = 64;

// Takes 0 or less as one for each core, and returns 1 … kMaxThreads.
int ThreadsFor(int threads);

// Calls body(0) … body(count - 1) once each, and waits. The caller's thread
// takes part, alone if no other can be started. When bodies throw, the rest is
// left undone, and the exception of the lowest index leaves this call. After a
// stop the rest is left undone, too.
void ParallelFor(int threads, std::size_t count,
                 const std::function<void(std::size_t)>& body,
                 const std::stop_token& stop = {});

// A tree looks at every row and parameter on each level: with ten thousand
// trials of hundreds of parameters it takes seconds.

// Fails with REQUEST_INVALID at options.trees, with how many there may be,
// where the answer's forest takes many minutes.
absl::Status CheckTreeWork(std::size_t rows, std::size_t parameters, int trees);

// Says whether all small forests together take about a minute.
bool CanGrowForIntervals(std::size_t rows, std::size_t parameters, int trees);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_EVALUATE_OPTIONS_H_
