// SPDX-License-Identifier: Apache-2.0
//
// File: plan_choices.h
//
// The points that a plan is chosen among: for every parameter one of its values
// (axis_values.h), as the conditions of the space allow.
#ifndef FROSTLINE_IMPORTANCE_PLAN_PLAN_CHOICES_H_
#define FROSTLINE_IMPORTANCE_PLAN_PLAN_CHOICES_H_

#include <cstddef>
#include <vector>

#include "importance/fitted_levels.h"
#include "study/space.h"

namespace frostline {

// For every parameter an index into FittedLevels::values.
using PlanChoice = std::vector<std::size_t>;

// What is asked of each of Space::modules().
enum class Demand { kAny, kFrozen, kTrained };
using Demands = std::vector<Demand>;

class PlanChoices {
 public:
  // Keeps references to both.
  PlanChoices(const Space& space, const FittedLevels& fitted);

  // The best value of each parameter's curve.
  const PlanChoice& favourites() const { return favourites_; }
  PlanChoice OfTrial(std::size_t row) const;
  // `choice` with new values of some parameters; others are made absent, or are
  // given their favourites, as conditions ask.
  PlanChoice With(PlanChoice choice, const std::vector<std::size_t>& axes,
                  const std::vector<std::size_t>& values) const;

  Point PointOf(const PlanChoice& choice) const;
  EffectCells CellsOf(const PlanChoice& choice) const;
  // What the model expects, as a loss in its own unit.
  double Loss(const PlanChoice& choice) const;
  bool IsFrozen(std::size_t module, const PlanChoice& choice) const;
  bool Meets(const PlanChoice& choice, const Demands& demands) const;
  bool IsInSpace(const PlanChoice& choice) const;

 private:
  const Space& space_;
  const FittedLevels& fitted_;
  bool has_conditions_;
  std::vector<std::size_t> deciding_;  // parameters with an effect
  PlanChoice favourites_;
};

}  // namespace frostline

#endif  // FROSTLINE_IMPORTANCE_PLAN_PLAN_CHOICES_H_
