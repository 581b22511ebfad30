// SPDX-License-Identifier: Apache-2.0
//
// File: evaluator.h
//
// The seam of importance: finished trials in, a report out. Which share of the
// target's variance does each parameter explain, measured over the space that
// was searched: levels are levels (counting measure), log-uniform is uniform
// in the logarithm, frozen is a level of its own.
//
//   ASSIGN_OR_RETURN(Report report,
//                    Evaluate(space, objectives, history, options));
//
// A pure function of its arguments, the same for any number of threads.
#ifndef FROSTLINE_IMPORTANCE_EVALUATOR_H_
#define FROSTLINE_IMPORTANCE_EVALUATOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "importance/measure/named_subsets.h"
#include "importance/ped/ped_axis.h"
#include "importance/report/report.h"
#include "study/history.h"
#include "study/objective.h"
#include "study/space.h"

namespace frostline {

struct EvaluateOptions {
  std::string evaluator = "fanova";
  // Metric of one of the objectives; empty: the first.
  std::string target;
  double top_quantile = 1.0;  // only the best so much of the trials …
  // … by this objective; empty: by the target.
  std::string best_by;
  std::uint64_t seed = 0;
  int trees = 64;
  int bootstraps = 64;  // for the intervals; 0: none
  bool pairs = true;
  NamedSubsets subsets;       // for fanova, forest and levels
  int threads = 0;            // 0: one for each core; changes no number
  PedAnovaOptions ped_anova;  // for ped-anova alone
  // false: for main shares alone; chance may not be looked at, and then nothing
  // is distinguishable.
  bool chance = true;
};

// TRIALS_TOO_FEW below kMinTrials finished trials, TARGET_CONSTANT,
// EVALUATOR_UNKNOWN, REQUEST_INVALID for options out of range, a target that is
// no objective, and sets that cannot be answered (named_subsets.h).
absl::StatusOr<Report> Evaluate(const Space& space,
                                const std::vector<Objective>& objectives,
                                const History& history,
                                const EvaluateOptions& options);

inline constexpr int kMinTrials = 8;

std::vector<std::string> EvaluatorNames();

}  // namespace frostline

#endif  // FROSTLINE_IMPORTANCE_EVALUATOR_H_
