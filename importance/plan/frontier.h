// SPDX-License-Identifier: Apache-2.0
//
// File: frontier.h
//
// What is the least that one must train? For each amount trained, the set of
// modules of which most is expected, what it is expected to score, and how
// likely it is to be within the tolerance of the best there is.
//
//   ASSIGN_OR_RETURN(Frontier frontier,
//                    MakeFrontier(space, objectives, history, options));
#ifndef FROSTLINE_IMPORTANCE_PLAN_FRONTIER_H_
#define FROSTLINE_IMPORTANCE_PLAN_FRONTIER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "importance/plan/study_plan.h"

namespace frostline::importance {

struct FrontierSet {
  std::vector<std::string> trained;  // searched modules, in depth order
  int prefix_frozen = 0;  // embeddings and so many layers less one; 0: none
  Point point;            // the set at the rates of which most is expected
  // By what trials took; NaN where they do not say.
  double trained_parameters = 0.0;
  double seconds = 0.0;
  Interval predicted;  // mean over seeds
  double within_tolerance_probability = 0.0;
  std::int64_t trials = 0;  // that trained just this set
};

struct Frontier {
  double tolerance = 0.0;               // in force
  Interval best;                        // of the best there is
  std::vector<FrontierSet> by_modules;  // by rising number of modules trained
  std::vector<FrontierSet> by_prefix;   // by falling depth that is frozen
  // The smallest of by_modules that is within the tolerance with kSureEnough;
  // -1: none can be named.
  int chosen = -1;
  std::string verdict;  // one sentence
  std::vector<ReportWarning> warnings;
};

// Errors as MakePlan's. A tolerance of 0 stands for the noise of one run.
absl::StatusOr<Frontier> MakeFrontier(const Space& space,
                                      const std::vector<Objective>& objectives,
                                      const History& history,
                                      const PlanOptions& options);
// The same on a basis that is there already (plan_basis.h).
absl::StatusOr<Frontier> MakeFrontier(const PlanBasis& basis,
                                      const PlanOptions& options);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_FRONTIER_H_
