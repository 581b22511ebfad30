// SPDX-License-Identifier: Apache-2.0
//
// File: chosen_point.h
//
// A plan takes the most promising point that is at least as good as the best
// trial with kWorthMoving, else that trial: no follower of a plan is worse off
// than who copies it.
#ifndef FROSTLINE_IMPORTANCE_PLAN_CHOSEN_POINT_H_
#define FROSTLINE_IMPORTANCE_PLAN_CHOSEN_POINT_H_

#include "importance/plan/plan_search.h"

namespace frostline::importance {

inline constexpr double kWorthMoving = 0.9;

PlanChoice ChoosePoint(const PlanSearch& search);

// Freezes module by module, the cheapest first, others' rates chosen anew, as
// far as all costs at most `tolerance` with kSureEnough; none without a
// tolerance.
PlanChoice FreezeMore(const PlanSearch& search, const PlanChoice& choice,
                      double tolerance);

// Applies ChoosePoint, then FreezeMore.
PlanChoice PlanPoint(const PlanSearch& search, double tolerance);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_CHOSEN_POINT_H_
