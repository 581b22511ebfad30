// SPDX-License-Identifier: Apache-2.0
//
// File: chosen_point.h
//
// Which point a plan takes. Who follows a plan must not be worse off than who
// copies the best trial: of the points of which most is expected it is the best
// that is at least as good as the best trial with kWorthMoving, else the best
// trial itself.
#ifndef FROSTLINE_IMPORTANCE_PLAN_CHOSEN_POINT_H_
#define FROSTLINE_IMPORTANCE_PLAN_CHOSEN_POINT_H_

#include "importance/plan/plan_search.h"

namespace frostline::importance {

inline constexpr double kWorthMoving = 0.9;

PlanChoice ChoosePoint(const PlanSearch& search);

// Freezes one more module at a time, that which costs least, the rates of the
// others chosen anew, as far as all of it together costs at most `tolerance`
// with kSureEnough.
PlanChoice FreezeMore(const PlanSearch& search, const PlanChoice& choice,
                      double tolerance);

// Both: the point of the plan.
PlanChoice PlanPoint(const PlanSearch& search, double tolerance);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_CHOSEN_POINT_H_
