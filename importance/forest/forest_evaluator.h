// SPDX-License-Identifier: Apache-2.0
//
// File: forest_evaluator.h
#ifndef FROSTLINE_IMPORTANCE_FOREST_FOREST_EVALUATOR_H_
#define FROSTLINE_IMPORTANCE_FOREST_FOREST_EVALUATOR_H_

#include "absl/status/statusor.h"
#include "importance/measure/evaluate_options.h"
#include "importance/measure/selection.h"
#include "importance/report.h"
#include "study/space.h"

namespace frostline::importance {

// Pairs are taken among those of largest main effect.
inline constexpr std::size_t kMaxPairParameters = 64;

absl::StatusOr<Report> EvaluateForest(const Space& space,
                                      const Selection& selection,
                                      const EvaluateOptions& options);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_FOREST_FOREST_EVALUATOR_H_
