// SPDX-License-Identifier: Apache-2.0
//
// File: frontier.h
//
// Each amount trained has its most promising set of modules, its score, and how
// likely that is within the tolerance of the best.
#ifndef FROSTLINE_IMPORTANCE_PLAN_FRONTIER_H_
#define FROSTLINE_IMPORTANCE_PLAN_FRONTIER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "importance/plan/study_plan.h"

namespace frostline::importance {

struct FrontierSet {
  std::vector<std::string> trained;  // in depth order
  int prefix_frozen = 0;             // so many of embeddings, layer.0, …
  Point point;                       // at the rates of which most is expected
  double trained_parameters = 0.0;   // by what trials took; NaN: unknown
  double seconds = 0.0;              // likewise
  Interval predicted;                // mean over seeds
  double within_tolerance_probability = 0.0;
  std::int64_t trials = 0;  // that trained just this set
};

struct Frontier {
  double tolerance = 0.0;               // in force
  Interval best;                        // of the best there is
  std::vector<FrontierSet> by_modules;  // by rising number trained
  std::vector<FrontierSet> by_prefix;   // by falling depth frozen
  // Is the smallest of by_modules within the tolerance with kSureEnough, or -1.
  int chosen = -1;
  std::string verdict;
  std::vector<ReportWarning> warnings;
};

// Has MakePlan's errors. Tolerance 0 is the noise of one run.
absl::StatusOr<Frontier> MakeFrontier(const Space& space,
                                      const std::vector<Objective>& objectives,
                                      const History& history,
                                      const PlanOptions& options);
absl::StatusOr<Frontier> MakeFrontier(const PlanBasis& basis,
                                      const PlanOptions& options);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_FRONTIER_H_
