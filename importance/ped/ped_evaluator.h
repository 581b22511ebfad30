// SPDX-License-Identifier: Apache-2.0
//
// File: ped_evaluator.h
#ifndef FROSTLINE_IMPORTANCE_PED_PED_EVALUATOR_H_
#define FROSTLINE_IMPORTANCE_PED_PED_EVALUATOR_H_

#include "absl/status/statusor.h"
#include "importance/measure/evaluate_options.h"
#include "importance/measure/selection.h"
#include "importance/report.h"
#include "study/space.h"

namespace frostline::importance {

// Takes all trials: options.top_quantile is the region, and
// options.ped_anova.target_quantile of all are good. Answers TRIALS_TOO_FEW
// below kMinTrials in the region, TARGET_CONSTANT when all are good,
// REQUEST_INVALID for what is no quantile, or a region that is not the larger.
absl::StatusOr<Report> EvaluatePedAnova(const Space& space,
                                        const Selection& selection,
                                        const EvaluateOptions& options);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PED_PED_EVALUATOR_H_
