// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/plan_choices.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace frostline::importance {
namespace {

constexpr std::size_t kMostChoicesTried = 100;

}  // namespace

PlanChoices::PlanChoices(const StudyBelief& belief)
    : belief_(belief), has_conditions_(belief.space().HasConditions()) {
  FindTried();
  FindFavourites();
}

void PlanChoices::FindTried() {
  const std::vector<double>& losses = belief_.selection().losses;
  std::vector<std::size_t> order(losses.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&losses](std::size_t a, std::size_t b) {
                     return losses[a] < losses[b];
                   });
  order.resize(std::min(order.size(), kMostChoicesTried));
  std::set<PlanChoice> known;
  std::vector<std::pair<double, PlanChoice>> worths;
  for (const std::size_t row : order) {
    PlanChoice choice = belief_.ChoiceOf(row);
    if (!known.insert(choice).second) continue;
    const double worth = Worth(choice);
    worths.emplace_back(-worth, std::move(choice));
  }
  std::sort(worths.begin(), worths.end());
  for (auto& [worth, choice] : worths) tried_.push_back(std::move(choice));
}

void PlanChoices::FindFavourites() {
  favourites_ = tried_[0];
  const surrogate::Cells cells = belief_.rows().CellsOf(tried_[0]);
  const std::vector<std::size_t>& parameters = belief_.rows().parameters;
  for (std::size_t axis = 0; axis < parameters.size(); ++axis) {
    const std::vector<double> worths = belief_.walk().Along(axis, cells);
    const std::size_t i = parameters[axis];
    std::optional<std::size_t> best;
    for (std::size_t v = 0; v < values(i).size(); ++v) {
      if (IsAbsent(values(i)[v].value)) continue;
      if (!best.has_value() ||
          worths[values(i)[v].cell] > worths[values(i)[*best].cell]) {
        best = v;
      }
    }
    favourites_[i] = best.value_or(0);
  }
  for (const std::size_t i : belief_.rows().left_out) {
    if (!IsAbsent(values(i)[favourites_[i]].value)) continue;
    favourites_[i] = values(i).size() - 1;
  }
}

bool PlanChoices::IsKnown(std::size_t module) const {
  const ModuleBinding& binding = space().modules()[module];
  const std::vector<std::size_t>& known = belief_.rows().parameters;
  const auto has = [&known](int parameter) {
    return std::binary_search(known.begin(), known.end(),
                              static_cast<std::size_t>(parameter));
  };
  if (binding.parameter.has_value() && has(*binding.parameter)) return true;
  return binding.frozen_above_depth.has_value() &&
         space().prefix_depth().has_value() && has(*space().prefix_depth());
}

Point PlanChoices::ValuesOf(const PlanChoice& choice) const {
  Point point;
  point.reserve(choice.size());
  for (std::size_t i = 0; i < choice.size(); ++i) {
    point.push_back(values(i)[choice[i]].value);
  }
  return point;
}

Point PlanChoices::PointOf(const PlanChoice& choice) const {
  const std::vector<ParameterValues>& choices = belief_.rows().choices;
  std::optional<std::size_t> best;
  for (std::size_t row = 0; row < belief_.trials(); ++row) {
    std::size_t same = 0;
    while (same < choice.size() &&
           choices[same].value_of_row[row] == choice[same]) {
      ++same;
    }
    if (same < choice.size()) continue;
    const std::vector<double>& losses = belief_.selection().losses;
    if (!best.has_value() || losses[row] < losses[*best]) best = row;
  }
  return best.has_value() ? *belief_.selection().points[*best]
                          : ValuesOf(choice);
}

bool PlanChoices::IsFrozen(std::size_t module, const PlanChoice& choice) const {
  return space().IsFrozen(module, ValuesOf(choice));
}

std::vector<bool> PlanChoices::FrozenOf(const PlanChoice& choice) const {
  const Point point = ValuesOf(choice);
  std::vector<bool> frozen;
  frozen.reserve(space().modules().size());
  for (std::size_t m = 0; m < space().modules().size(); ++m) {
    frozen.push_back(space().IsFrozen(m, point));
  }
  return frozen;
}

double PlanChoices::Worth(const PlanChoice& choice) const {
  return belief_.walk().At(belief_.rows().CellsOf(choice));
}

PlanChoice PlanChoices::With(PlanChoice choice, std::size_t parameter,
                             std::size_t value) const {
  choice[parameter] = value;
  if (!has_conditions_) return choice;
  // Parents come before their children.
  Point point = ValuesOf(choice);
  for (std::size_t i = 0; i < choice.size(); ++i) {
    const bool active = space().IsActive(static_cast<int>(i), point);
    if (active == !IsAbsent(point[i])) continue;
    choice[i] = active ? favourites_[i] : 0;  // absent is the first value
    point[i] = values(i)[choice[i]].value;
  }
  return choice;
}

bool PlanChoices::Meets(const PlanChoice& choice,
                        const Demands& demands) const {
  const Point point = ValuesOf(choice);
  for (std::size_t m = 0; m < demands.size(); ++m) {
    if (demands[m] == Demand::kAny) continue;
    if (space().IsFrozen(m, point) != (demands[m] == Demand::kFrozen)) {
      return false;
    }
  }
  return true;
}

bool PlanChoices::IsInSpace(const PlanChoice& choice) const {
  return space().Check(ValuesOf(choice)).ok();
}

}  // namespace frostline::importance
