// SPDX-License-Identifier: Apache-2.0
//
// File: selection.h
//
// Which trials of a history an evaluation uses, and their losses.
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

// Points into the history it was made from, and into the objectives.
struct Selection {
  std::vector<const Observation*> trials;  // by trial number
  std::vector<const Point*> points;        // theirs, in the same order
  std::vector<double> losses;              // of the target; lower is better
  std::int64_t left_out = 0;               // other trials that have ended
  // Of those left out: that could not be trained at a point of the space. They
  // say where not to go, but have no place in a quantile.
  std::vector<const Observation*> diverged;
  const Objective* target = nullptr;  // what the losses are of
};

// REQUEST_INVALID unless it is a share of the trials.
absl::Status CheckTopQuantile(double top_quantile);

// Trials that succeeded, lie in the space and have a finite target; with
// top_quantile below 1 the best of them by best_by (which then has to be finite
// too), ties included. TRIALS_TOO_FEW, TARGET_CONSTANT, REQUEST_INVALID as
// Evaluate says.
absl::StatusOr<Selection> SelectTrials(const Space& space,
                                       const std::vector<Objective>& objectives,
                                       const History& history,
                                       const EvaluateOptions& options);

// The same before the quantile, and however few there are.
absl::StatusOr<Selection> FindUsableTrials(
    const Space& space, const std::vector<Objective>& objectives,
    const History& history, const EvaluateOptions& options);

// What trials at the same point tell of the seeds' noise (noise_variance.h).
RepeatNoise NoiseOfRepeats(const Selection& selection);
// Its variance; NaN: no point was repeated.
double NoiseVariance(const Selection& selection);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_SELECTION_H_
