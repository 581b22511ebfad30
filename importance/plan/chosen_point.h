// SPDX-License-Identifier: Apache-2.0
//
// File: chosen_point.h
//
// Which point a plan takes: the most promising that is at least as good as the
// best trial with kWorthMoving, else the best trial, so that no follower of a
// plan is worse off than who copies that.
#ifndef FROSTLINE_IMPORTANCE_PLAN_CHOSEN_POINT_H_
#define FROSTLINE_IMPORTANCE_PLAN_CHOSEN_POINT_H_

#include "importance/plan/plan_search.h"

namespace frostline::importance {

inline constexpr double kWorthMoving = 0.9;

PlanChoice ChoosePoint(const PlanSearch& search);

// Freezes module by module, the cheapest first, others' rates chosen anew,
// while all costs at most `tolerance` with kSureEnough.
PlanChoice FreezeMore(const PlanSearch& search, const PlanChoice& choice,
                      double tolerance);

// ChoosePoint, then FreezeMore.
PlanChoice PlanPoint(const PlanSearch& search, double tolerance);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_CHOSEN_POINT_H_
