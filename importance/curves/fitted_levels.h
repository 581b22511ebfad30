// SPDX-License-Identifier: Apache-2.0
//
// File: fitted_levels.h
//
// A study's trials with level effects fitted to them: what curves, tables and
// plans are read from. Beliefs are losses in the model's own unit; the
// functions below say them in the target's unit and direction.
#ifndef FROSTLINE_IMPORTANCE_CURVES_FITTED_LEVELS_H_
#define FROSTLINE_IMPORTANCE_CURVES_FITTED_LEVELS_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "importance/cells/axis_values.h"
#include "importance/effects/effect_surface.h"
#include "importance/effects/level_effects.h"
#include "importance/measure/evaluate_options.h"
#include "importance/measure/selection.h"
#include "importance/report/report.h"
#include "study/history.h"
#include "study/objective.h"
#include "study/space.h"

namespace frostline {

// Points into the history it was made from.
class FittedLevels {
 public:
  FittedLevels(const Space& space, Selection selection);

  const Selection& selection() const { return selection_; }
  const std::vector<const Observation*>& trials() const {
    return selection_.trials;
  }
  const Objective& objective() const { return objective_; }
  // Of parameter i; effect axes are in the model.
  const std::vector<AxisValue>& values(std::size_t i) const {
    return values_[i];
  }
  // Indices into values(i), by trial.
  const std::vector<std::size_t>& value_of_row(std::size_t i) const {
    return value_of_row_[i];
  }
  const LevelEffects& model() const { return *model_; }
  const EffectSurface& surface() const { return *surface_; }
  const std::vector<ReportWarning>& warnings() const { return warnings_; }
  // Variance that the trials show of terms which the model leaves out.
  double rest_variance() const { return rest_variance_; }

  // A loss as a target, and a difference of losses as a part of the target that
  // is lost.
  Interval AsScore(const Belief& loss) const;
  Interval AsCost(const Belief& difference) const;
  double ScoreOf(double loss) const;
  // Half the range of the trials' targets: the model's own unit.
  double unit() const { return radius_; }

 private:
  // Around a mean in the target's unit; wider for few trials.
  Interval Around(double mean, double deviation) const;

  Selection selection_;
  Objective objective_;
  std::vector<std::vector<AxisValue>> values_;
  std::vector<std::vector<std::size_t>> value_of_row_;
  std::vector<ReportWarning> warnings_;
  std::unique_ptr<LevelEffects> model_;
  std::unique_ptr<EffectSurface> surface_;
  double middle_ = 0.0;  // of the losses
  double radius_ = 1.0;
  double rest_variance_ = 0.0;
  double freedom_ = 1.0;  // trials not spent on effects
};

// Errors as Evaluate's.
absl::StatusOr<FittedLevels> FitLevels(const Space& space,
                                       const std::vector<Objective>& objectives,
                                       const History& history,
                                       const EvaluateOptions& options);

}  // namespace frostline

#endif  // FROSTLINE_IMPORTANCE_CURVES_FITTED_LEVELS_H_
