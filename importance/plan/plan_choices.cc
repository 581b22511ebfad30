// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/plan_choices.h"

#include <optional>

#include "importance/plan/frozen_modules.h"

namespace frostline {

PlanChoices::PlanChoices(const Space& space, const FittedLevels& fitted)
    : space_(space), fitted_(fitted), has_conditions_(space.HasConditions()) {
  favourites_.reserve(space.parameters().size());
  for (std::size_t i = 0; i < space.parameters().size(); ++i) {
    if (fitted.surface().Depends(i)) deciding_.push_back(i);
    double lowest = 0.0;
    std::optional<std::size_t> best;
    const std::vector<AxisValue>& values = fitted.values(i);
    for (std::size_t v = 0; v < values.size(); ++v) {
      if (IsAbsent(values[v].value)) continue;
      const double loss = fitted.surface().Marginal({i}, {values[v].cell}).mean;
      if (!best.has_value() || loss < lowest) {
        best = v;
        lowest = loss;
      }
    }
    favourites_.push_back(best.value_or(0));
  }
}

Point PlanChoices::PointOf(const PlanChoice& choice) const {
  Point point;
  point.reserve(choice.size());
  for (std::size_t i = 0; i < choice.size(); ++i) {
    point.push_back(fitted_.values(i)[choice[i]].value);
  }
  return point;
}

EffectCells PlanChoices::CellsOf(const PlanChoice& choice) const {
  EffectCells cells;
  cells.reserve(choice.size());
  for (std::size_t i = 0; i < choice.size(); ++i) {
    cells.push_back(fitted_.values(i)[choice[i]].cell);
  }
  return cells;
}

bool PlanChoices::IsFrozen(std::size_t module, const PlanChoice& choice) const {
  return IsModuleFrozen(space_, module, PointOf(choice));
}

double PlanChoices::Loss(const PlanChoice& choice) const {
  // A search asks this most, and of hundreds of parameters few have an effect.
  EffectCells cells(choice.size(), 0);
  for (const std::size_t i : deciding_) {
    cells[i] = fitted_.values(i)[choice[i]].cell;
  }
  return fitted_.surface().Mean(cells);
}

PlanChoice PlanChoices::OfTrial(std::size_t row) const {
  PlanChoice choice;
  choice.reserve(favourites_.size());
  for (std::size_t i = 0; i < favourites_.size(); ++i) {
    choice.push_back(fitted_.value_of_row(i)[row]);
  }
  return choice;
}

PlanChoice PlanChoices::With(PlanChoice choice,
                             const std::vector<std::size_t>& axes,
                             const std::vector<std::size_t>& values) const {
  for (std::size_t k = 0; k < axes.size(); ++k) choice[axes[k]] = values[k];
  if (!has_conditions_) return choice;
  // Parents come before their children.
  Point point = PointOf(choice);
  for (std::size_t i = 0; i < choice.size(); ++i) {
    const bool active = space_.IsActive(static_cast<int>(i), point);
    if (active == !IsAbsent(point[i])) continue;
    choice[i] = active ? favourites_[i] : 0;  // absent is the first value
    point[i] = fitted_.values(i)[choice[i]].value;
  }
  return choice;
}

bool PlanChoices::Meets(const PlanChoice& choice,
                        const Demands& demands) const {
  const Point point = PointOf(choice);
  for (std::size_t m = 0; m < demands.size(); ++m) {
    if (demands[m] == Demand::kAny) continue;
    if (IsModuleFrozen(space_, m, point) != (demands[m] == Demand::kFrozen)) {
      return false;
    }
  }
  return true;
}

bool PlanChoices::IsInSpace(const PlanChoice& choice) const {
  return space_.Check(PointOf(choice)).ok();
}

}  // namespace frostline
