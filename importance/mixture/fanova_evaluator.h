// SPDX-License-Identifier: Apache-2.0
//
// File: fanova_evaluator.h
//
// The evaluators `fanova` and `levels`. Both take a model of the target apart:
//
//   levels   level effects (effects/level_effects.h)
//   fanova   level effects and a forest, weighed (mixture.h, mixture_model.h),
//            and a Gaussian process as far as it predicts better
//            (surrogate_part.h)
//
// Intervals are quantiles of draws. A pair that did not enter the level effects
// has an interval up to what its residuals leave possible.
#ifndef FROSTLINE_IMPORTANCE_MIXTURE_FANOVA_EVALUATOR_H_
#define FROSTLINE_IMPORTANCE_MIXTURE_FANOVA_EVALUATOR_H_

#include "absl/status/statusor.h"
#include "importance/measure/evaluate_options.h"
#include "importance/measure/selection.h"
#include "importance/report.h"
#include "study/space.h"

namespace frostline::importance {

// Both read `seed`, `pairs`, `subsets`, and whether there are `bootstraps`, or
// `cheap_intervals`, for intervals; fanova also `trees` and `threads`.
absl::StatusOr<Report> EvaluateFanova(const Space& space,
                                      const Selection& selection,
                                      const EvaluateOptions& options);

absl::StatusOr<Report> EvaluateLevels(const Space& space,
                                      const Selection& selection,
                                      const EvaluateOptions& options);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MIXTURE_FANOVA_EVALUATOR_H_
