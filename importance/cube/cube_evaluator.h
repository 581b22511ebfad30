// SPDX-License-Identifier: Apache-2.0
//
// File: cube_evaluator.h
#ifndef FROSTLINE_IMPORTANCE_CUBE_CUBE_EVALUATOR_H_
#define FROSTLINE_IMPORTANCE_CUBE_CUBE_EVALUATOR_H_

#include "absl/status/statusor.h"
#include "importance/measure/evaluate_options.h"
#include "importance/measure/selection.h"
#include "importance/report.h"
#include "study/space.h"

namespace frostline::importance {

// Returns shares over the cube, not normalised.
absl::StatusOr<Report> EvaluateFanovaOptuna(const Space& space,
                                            const Selection& selection,
                                            const EvaluateOptions& options);

// Returns shares of what splits took off the error, of sum 1.
absl::StatusOr<Report> EvaluateMdi(const Space& space,
                                   const Selection& selection,
                                   const EvaluateOptions& options);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_CUBE_CUBE_EVALUATOR_H_
