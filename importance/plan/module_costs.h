// SPDX-License-Identifier: Apache-2.0
//
// File: module_costs.h
//
// Two points tell what freezing a module costs: it is trained at its most
// promising rate, and frozen, the others as planned.
#ifndef FROSTLINE_IMPORTANCE_PLAN_MODULE_COSTS_H_
#define FROSTLINE_IMPORTANCE_PLAN_MODULE_COSTS_H_

#include <optional>
#include <vector>

#include "importance/plan/plan_search.h"

namespace frostline::importance {

struct TrainedAndFrozen {
  PlanChoice trained;
  PlanChoice frozen;
};

// Goes by Space::modules(); nullopt stands where one cannot be, or the
// surrogate lacks its parameter.
std::vector<std::optional<TrainedAndFrozen>> CompareFreezing(
    const PlanSearch& search, const PlanChoice& plan);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_MODULE_COSTS_H_
