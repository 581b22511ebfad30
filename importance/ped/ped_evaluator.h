// SPDX-License-Identifier: Apache-2.0
//
// File: ped_evaluator.h
//
// The evaluator "ped-anova": what matters for being among the best trials
// (ped_anova.h). Shares are parts of the sum of all divergences, not of the
// target's variance.
#ifndef FROSTLINE_IMPORTANCE_PED_PED_EVALUATOR_H_
#define FROSTLINE_IMPORTANCE_PED_PED_EVALUATOR_H_

#include "absl/status/statusor.h"
#include "importance/measure/evaluate_options.h"
#include "importance/measure/selection.h"
#include "importance/report/report.h"
#include "study/space.h"

namespace frostline::importance {

// Takes the trials of every quantile: options.top_quantile is the region among
// which options.ped_anova.target_quantile of all trials are the good ones.
// TRIALS_TOO_FEW when the region has fewer than kMinTrials, TARGET_CONSTANT
// when all of it is good, REQUEST_INVALID when the quantiles are no quantiles
// or the region is not the larger one.
absl::StatusOr<Report> EvaluatePedAnova(const Space& space,
                                        const Selection& selection,
                                        const EvaluateOptions& options);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PED_PED_EVALUATOR_H_
