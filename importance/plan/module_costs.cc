// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/module_costs.h"

#include <utility>

namespace frostline::importance {
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
    compared.push_back(
        TrainedAndFrozen{*std::move(trained), *std::move(frozen)});
  }
  return compared;
}

}  // namespace frostline::importance
