// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/module_costs.h"

#include <utility>

namespace frostline {
namespace {

// The plan with one module frozen or trained, nothing else changed unless it
// has to.
std::optional<PlanChoice> WithModule(const PlanSearch& search,
                                     const PlanChoice& plan, std::size_t module,
                                     bool frozen) {
  if (search.choices().IsFrozen(module, plan) == frozen) return plan;
  Demands demands(search.choices().space().modules().size(), Demand::kAny);
  demands[module] = frozen ? Demand::kFrozen : Demand::kTrained;
  return search.BestFrom(plan, demands, 0);
}

// The module trained at its other rates.
std::vector<PlanChoice> OtherRates(const PlanChoices& choices,
                                   const PlanChoice& trained,
                                   std::size_t module) {
  std::vector<PlanChoice> others;
  const auto& parameter = choices.space().modules()[module].parameter;
  if (!parameter.has_value()) return others;
  const auto own = static_cast<std::size_t>(*parameter);
  for (std::size_t v = 0; v < choices.values(own).size(); ++v) {
    if (v == trained[own]) continue;
    PlanChoice other = choices.With(trained, own, v);
    if (!choices.IsFrozen(module, other) && choices.IsInSpace(other)) {
      others.push_back(std::move(other));
    }
  }
  return others;
}

}  // namespace

std::vector<std::optional<TrainedAndFrozen>> CompareFreezing(
    const PlanSearch& search, const PlanChoice& plan) {
  std::vector<std::optional<TrainedAndFrozen>> compared;
  for (std::size_t m = 0; m < search.choices().space().modules().size(); ++m) {
    if (!search.choices().IsKnown(m)) {
      compared.emplace_back(std::nullopt);
      continue;
    }
    std::optional<PlanChoice> trained = WithModule(search, plan, m, false);
    std::optional<PlanChoice> frozen = WithModule(search, plan, m, true);
    if (!trained.has_value() || !frozen.has_value()) {
      compared.emplace_back(std::nullopt);
      continue;
    }
    std::vector<PlanChoice> others = OtherRates(search.choices(), *trained, m);
    compared.push_back(TrainedAndFrozen{*std::move(trained), *std::move(frozen),
                                        std::move(others)});
  }
  return compared;
}

}  // namespace frostline
