// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/plan_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace frostline {
namespace {

constexpr std::size_t kStartTrials = 8;
constexpr int kSweeps = 20;
// Combinations that are worth trying at once.
constexpr std::size_t kMaxCombinations = 1000;
constexpr double kBetter = 1e-12;

}  // namespace

PlanSearch::PlanSearch(const Space& space, const FittedLevels& fitted)
    : space_(space), fitted_(fitted), choices_(space, fitted) {
  for (std::size_t i = 0; i < space.parameters().size(); ++i) {
    const bool decides = fitted.surface().Depends(i) || space.HasConditions();
    if (decides) moves_.push_back({i});
  }
  for (const EffectTerm& term : fitted.model().terms()) {
    std::size_t combinations = 1;
    for (const std::size_t axis : term) {
      combinations *= fitted.values(axis).size();
    }
    if (term.size() > 1 && combinations <= kMaxCombinations) {
      moves_.push_back(term);
    }
  }
}

bool PlanSearch::Improve(const std::vector<std::size_t>& axes,
                         const Demands& demands, PlanChoice& choice) const {
  PlanChoice best = choice;
  double lowest = choices_.Loss(choice) - kBetter;
  std::vector<std::size_t> values(axes.size(), 0);
  bool improved = false;
  while (true) {
    const PlanChoice other = choices_.With(choice, axes, values);
    const double loss = choices_.Loss(other);
    if (loss < lowest && choices_.Meets(other, demands) &&
        choices_.IsInSpace(other)) {
      best = other;
      lowest = loss;
      improved = true;
    }
    std::size_t k = axes.size();
    while (k > 0 && ++values[k - 1] == fitted_.values(axes[k - 1]).size()) {
      values[--k] = 0;
    }
    if (k == 0) break;
  }
  choice = std::move(best);
  return improved;
}

PlanChoice PlanSearch::Descend(PlanChoice choice,
                               const Demands& demands) const {
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool improved = false;
    for (const std::vector<std::size_t>& axes : moves_) {
      improved = Improve(axes, demands, choice) || improved;
    }
    if (!improved) break;
  }
  return choice;
}

std::vector<PlanChoice> PlanSearch::Starts() const {
  std::vector<PlanChoice> starts = {
      choices_.With(choices_.favourites(), {}, {})};
  std::vector<std::pair<double, std::size_t>> order;
  order.reserve(fitted_.trials().size());
  for (std::size_t row = 0; row < fitted_.trials().size(); ++row) {
    order.emplace_back(choices_.Loss(choices_.OfTrial(row)), row);
  }
  std::sort(order.begin(), order.end());
  for (std::size_t k = 0; k < std::min(kStartTrials, order.size()); ++k) {
    starts.push_back(choices_.OfTrial(order[k].second));
  }
  return starts;
}

PlanChoice PlanSearch::Best() const {
  const Demands none(space_.modules().size(), Demand::kAny);
  PlanChoice best;
  double lowest = 0.0;
  for (const PlanChoice& start : Starts()) {
    PlanChoice end = Descend(start, none);
    const double loss = choices_.Loss(end);
    if (!best.empty() && loss >= lowest - kBetter) continue;
    best = std::move(end);
    lowest = loss;
  }
  return best;
}

std::vector<std::size_t> PlanSearch::LeversOf(std::size_t module) const {
  const ModuleBinding& binding = space_.modules()[module];
  std::vector<std::size_t> levers;
  if (binding.frozen_above_depth.has_value() &&
      space_.prefix_depth().has_value()) {
    levers.push_back(static_cast<std::size_t>(*space_.prefix_depth()));
  }
  if (!binding.parameter.has_value()) return levers;
  const auto own = static_cast<std::size_t>(*binding.parameter);
  const auto& condition = space_.parameters()[own].condition;
  if (condition.has_value() &&
      (levers.empty() ||
       levers[0] != static_cast<std::size_t>(condition->parent))) {
    levers.push_back(static_cast<std::size_t>(condition->parent));
  }
  levers.push_back(own);
  return levers;
}

std::optional<PlanChoice> PlanSearch::Satisfy(const PlanChoice& start,
                                              std::size_t module,
                                              Demand demand) const {
  Demands only(space_.modules().size(), Demand::kAny);
  only[module] = demand;
  if (choices_.Meets(start, only)) return start;
  std::optional<PlanChoice> best;
  const auto weigh = [&](const PlanChoice& choice) {
    if (!choices_.Meets(choice, only) || !choices_.IsInSpace(choice)) return;
    if (!best.has_value() || choices_.Loss(choice) < choices_.Loss(*best))
      best = choice;
  };
  const std::vector<std::size_t> levers = LeversOf(module);
  for (const std::size_t lever : levers) {
    for (std::size_t v = 0; v < fitted_.values(lever).size(); ++v) {
      const PlanChoice moved = choices_.With(start, {lever}, {v});
      weigh(moved);
      if (lever == levers.back()) continue;
      for (std::size_t w = 0; w < fitted_.values(levers.back()).size(); ++w) {
        weigh(choices_.With(moved, {levers.back()}, {w}));
      }
    }
  }
  return best;
}

std::optional<PlanChoice> PlanSearch::BestFrom(const PlanChoice& start,
                                               const Demands& demands) const {
  PlanChoice choice = start;
  for (std::size_t m = 0; m < demands.size(); ++m) {
    if (demands[m] == Demand::kAny) continue;
    const std::optional<PlanChoice> met = Satisfy(choice, m, demands[m]);
    if (!met.has_value()) return std::nullopt;
    choice = *met;
  }
  if (!choices_.Meets(choice, demands)) return std::nullopt;
  return Descend(std::move(choice), demands);
}

}  // namespace frostline
