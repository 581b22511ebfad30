// SPDX-License-Identifier: Apache-2.0
//
// File: selection.h
#ifndef FROSTLINE_IMPORTANCE_MEASURE_SELECTION_H_
#define FROSTLINE_IMPORTANCE_MEASURE_SELECTION_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "importance/measure/evaluate_options.h"
#include "importance/measure/noise_variance.h"
#include "study/history.h"
#include "study/objective.h"
#include "study/space.h"

namespace frostline::importance {

// Points into its history and objectives.
struct Selection {
  std::vector<const Observation*> trials;  // by number
  std::vector<const Point*> points;        // in the same order
  std::vector<double> losses;              // lower is better
  std::int64_t left_out = 0;               // others that have ended
  // Some of those left out could not be trained at a point of the space. They
  // say where not to go, but are in no quantile.
  std::vector<const Observation*> diverged;
  const Objective* target = nullptr;
};

// Answers REQUEST_INVALID unless it is a share.
absl::Status CheckTopQuantile(double top_quantile);

// Takes trials that succeeded, lie in the space and have a finite target; below
// a top_quantile of 1 the best by best_by (finite too), ties included. Its
// errors are Evaluate's.
absl::StatusOr<Selection> SelectTrials(const Space& space,
                                       const std::vector<Objective>& objectives,
                                       const History& history,
                                       const EvaluateOptions& options);

// Takes them before the quantile, however few.
absl::StatusOr<Selection> FindUsableTrials(
    const Space& space, const std::vector<Objective>& objectives,
    const History& history, const EvaluateOptions& options);

RepeatNoise NoiseOfRepeats(const Selection& selection);
double NoiseVariance(const Selection& selection);  // NaN: nothing repeated

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_SELECTION_H_
