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

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "importance/measure/evaluate_options.h"
#include "importance/report/report.h"
#include "study/history.h"
#include "study/objective.h"
#include "study/space.h"

namespace frostline::importance {

// TRIALS_TOO_FEW below kMinTrials finished trials, TARGET_CONSTANT,
// EVALUATOR_UNKNOWN, REQUEST_INVALID for options out of range, a target that is
// no objective, and sets that cannot be answered (measure/named_subsets.h).
absl::StatusOr<Report> Evaluate(const Space& space,
                                const std::vector<Objective>& objectives,
                                const History& history,
                                const EvaluateOptions& options);

std::vector<std::string> EvaluatorNames();

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_EVALUATOR_H_
