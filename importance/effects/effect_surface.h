// SPDX-License-Identifier: Apache-2.0
//
// File: effect_surface.h
//
// Predicts points from level effects. All coefficients are taken together, so
// the difference of two points is as sure as the trials make it, however unsure
// both are.
//
// A term estimated as nothing keeps the variance of that estimate, a parameter
// without room in the model what its trials leave possible: a cell nobody tried
// is never sure.
//
//   EffectSurface surface(model);
//   surface.Mean(cells);                  // in the unit of the model's targets
//   surface.Difference(frozen, trained);  // of two points, with correlations
#ifndef FROSTLINE_IMPORTANCE_EFFECTS_EFFECT_SURFACE_H_
#define FROSTLINE_IMPORTANCE_EFFECTS_EFFECT_SURFACE_H_

#include <cstddef>
#include <vector>

#include "importance/effects/grouped_ridge.h"
#include "importance/effects/level_effects.h"

namespace frostline::importance {

// It holds a term's columns for every combination of cells, centred as the
// trials' are.
using EffectCells = std::vector<std::size_t>;  // by axis

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

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_EFFECTS_EFFECT_SURFACE_H_
