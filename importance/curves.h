// SPDX-License-Identifier: Apache-2.0
//
// File: curves.h
//
// Curves of the target along parameters. The model believes in losses in its
// own unit; the functions below answer in the unit of the target.
#ifndef FROSTLINE_IMPORTANCE_CURVES_H_
#define FROSTLINE_IMPORTANCE_CURVES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include "absl/status/statusor.h"
#include "importance/cells.h"
#include "importance/effects/grouped_ridge.h"
#include "importance/effects/level_effects.h"
#include "importance/measure/evaluate_options.h"
#include "importance/measure/selection.h"
#include "study/history.h"
#include "study/objective.h"
#include "study/space.h"

namespace frostline::importance {

using EffectCells = std::vector<std::size_t>;  // by axis

// The table of one term of the model: the term's columns and its effect for
// every combination of cells. The columns are centred as the trials' are.
// EffectSurface owns one table for each term.
class TermTable {
 public:
  TermTable(const std::vector<EffectAxis>& axes, EffectTerm term);

  const EffectTerm& term() const { return term_; }
  std::size_t width() const { return average_.size(); }
  const double* Columns(const EffectCells& cells) const {
    return &columns_[CombinationOf(cells) * width()];
  }
  const std::vector<double>& average() const { return average_; }  // by mass

  void SetEffect(const double* coefficients);
  double Effect(const EffectCells& cells) const {
    return effect_[CombinationOf(cells)];
  }

 private:
  std::size_t CombinationOf(const EffectCells& cells) const;

  EffectTerm term_;
  std::vector<std::size_t> sizes_;
  std::vector<double> columns_;  // the last axis's cell fastest
  std::vector<double> average_;
  std::vector<double> effect_;  // by combination
};

struct Belief {
  double mean = 0.0;
  double deviation = 0.0;
};

// A predictor of points from level effects. It takes all coefficients together,
// so the difference of two points is as sure as the trials make it, however
// unsure both points are.
//
// A term that is estimated as nothing keeps the variance of that estimate. A
// parameter without room in the model keeps what its trials leave possible: a
// cell that nobody tried is never sure.
//
//   EffectSurface surface(model, mean_target);
//   surface.Mean(cells);                  // in the unit of the model's targets
//   surface.Difference(frozen, trained);  // of two points, with correlations
class EffectSurface {
 public:
  // Keeps a reference to the model.
  EffectSurface(const LevelEffects& model, double mean_target);

  double Mean(const EffectCells& cells) const;
  Belief At(const EffectCells& cells) const;
  // Says what `to` has more than `from`.
  Belief Difference(const EffectCells& from, const EffectCells& to) const;
  Belief Marginal(const std::vector<std::size_t>& axes,
                  const EffectCells& cells) const;

  bool Depends(std::size_t axis) const { return depends_[axis]; }

 private:
  void AddColumns(const EffectCells& cells, double factor,
                  std::vector<double>& weights) const;
  // Returns 0 for an axis with room in the model.
  double RoomVariance(std::size_t axis, std::size_t cell) const;

  const LevelEffects& model_;
  double mean_target_;
  double mean_variance_;
  RidgePosterior posterior_;
  std::vector<TermTable> tables_;
  std::vector<bool> depends_;          // by axis
  std::vector<double> room_variance_;  // by axis
};

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
