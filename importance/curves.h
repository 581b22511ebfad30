// SPDX-License-Identifier: Apache-2.0
//
// File: curves.h
//
// Curves of the target along parameters. The model believes in losses in its
// own unit; the functions below answer in the unit of the target.
#ifndef FROSTLINE_IMPORTANCE_CURVES_H_
#define FROSTLINE_IMPORTANCE_CURVES_H_

#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include "absl/status/statusor.h"
#include "importance/cells.h"
#include "importance/effects/effect_surface.h"
#include "importance/effects/level_effects.h"
#include "importance/measure/evaluate_options.h"
#include "importance/measure/selection.h"
#include "study/history.h"
#include "study/objective.h"
#include "study/space.h"

namespace frostline::importance {

// Level effects that are fitted to a study. Points into its history.
class FittedLevels {
 public:
  // After a stop nobody may believe it.
  FittedLevels(const Space& space, Selection selection,
               const std::stop_token& stop);

  const std::vector<const Observation*>& trials() const {
    return selection_.trials;
  }
  const std::vector<AxisValue>& values(std::size_t i) const {
    return values_[i];
  }
  const std::vector<std::size_t>& value_of_row(std::size_t i) const {
    return value_of_row_[i];
  }
  const EffectSurface& surface() const { return *surface_; }

  Interval ScoreInterval(const Belief& loss) const;
  double ScoreOf(double loss) const;

 private:
  // Is wider for few trials.
  Interval Around(double mean, double deviation) const;

  Selection selection_;
  Objective objective_;
  std::vector<std::vector<AxisValue>> values_;
  std::vector<std::vector<std::size_t>> value_of_row_;
  std::unique_ptr<LevelEffects> model_;
  std::unique_ptr<EffectSurface> surface_;
  double middle_ = 0.0;  // of the losses
  double radius_ = 1.0;
  double freedom_ = 1.0;  // trials not spent on effects
};

// Its errors are Evaluate's.
absl::StatusOr<FittedLevels> FitLevels(const Space& space,
                                       const std::vector<Objective>& objectives,
                                       const History& history,
                                       const EvaluateOptions& options);

// Errors are Evaluate's, and REQUEST_INVALID for an unknown parameter.

// One value of a parameter and the target expected there.
struct CurvePoint {
  double value = 0.0;       // of a stretch its middle
  Interval expected;        // in the target's unit and direction
  std::int64_t trials = 0;  // at it, or in its stretch
};

struct MarginalCurve {
  int parameter = 0;
  std::vector<CurvePoint> points;  // absent first
  double best = 0.0;               // of the best expectation; never absent
};

absl::StatusOr<std::vector<MarginalCurve>> MarginalCurves(
    const Space& space, const std::vector<Objective>& objectives,
    const History& history, const EvaluateOptions& options);

struct MarginalTable {
  int first = 0;
  int second = 0;
  std::vector<double> first_values;
  std::vector<double> second_values;
  std::vector<double> expected;  // row-major: first x second
  std::vector<std::int64_t> trials;
};

absl::StatusOr<MarginalTable> PairTable(
    const Space& space, const std::vector<Objective>& objectives,
    const History& history, const EvaluateOptions& options, int first,
    int second);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_CURVES_H_
