// SPDX-License-Identifier: Apache-2.0
//
// File: evaluator.h
//
// Says which share of the variance of the target each parameter explains over
// the searched space.
#ifndef FROSTLINE_IMPORTANCE_EVALUATOR_H_
#define FROSTLINE_IMPORTANCE_EVALUATOR_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "importance/measure/evaluate_options.h"
#include "importance/report.h"
#include "study/history.h"
#include "study/objective.h"
#include "study/space.h"

namespace frostline::importance {

// Fails with TRIALS_TOO_FEW below kMinTrials, TARGET_CONSTANT,
// EVALUATOR_UNKNOWN, and REQUEST_INVALID for options out of range, a target
// that is no objective, and sets without an answer
// (measure/evaluate_options.h). After a stop (options.stop) it is CANCELLED.
absl::StatusOr<Report> Evaluate(const Space& space,
                                const std::vector<Objective>& objectives,
                                const History& history,
                                const EvaluateOptions& options);

std::vector<std::string> EvaluatorNames();

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_EVALUATOR_H_
