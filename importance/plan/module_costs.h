// SPDX-License-Identifier: Apache-2.0
//
// File: module_costs.h
//
// For every module of a space the two points that say what freezing it costs:
// trained at the rate of which most is expected, and frozen, all other modules
// as in a plan.
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

// For each of Space::modules(); nullopt where the space cannot do both, or the
// surrogate does not know it.
std::vector<std::optional<TrainedAndFrozen>> CompareFreezing(
    const PlanSearch& search, const PlanChoice& plan);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_MODULE_COSTS_H_
