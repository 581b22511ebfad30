// SPDX-License-Identifier: Apache-2.0
//
// File: plan_savings.h
//
// What a plan costs and saves, by least squares of what trials took on which
// modules they froze. Trained parameters are sums over modules, and so exact;
// seconds are as sure as the trials make them.
#ifndef FROSTLINE_IMPORTANCE_PLAN_PLAN_SAVINGS_H_
#define FROSTLINE_IMPORTANCE_PLAN_PLAN_SAVINGS_H_

#include <vector>

#include "study/history.h"
#include "study/space.h"

namespace frostline::importance {

// Against training all that can be. NaN where trials cannot tell: none says
// what it took, froze or trained a module of the plan, or seconds are too
// noisy.
struct PlanSavings {
  double trained_parameters = 0.0;
  double seconds_share = 0.0;
};

// REQUIRES: all lie in the space.
PlanSavings EstimateSavings(const Space& space,
                            const std::vector<const Observation*>& trials,
                            const Point& plan);

// Of one trial; NaN likewise.
struct PlanCosts {
  double trained_parameters = 0.0;
  double seconds = 0.0;
};

PlanCosts EstimateCosts(const Space& space,
                        const std::vector<const Observation*>& trials,
                        const Point& point);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_PLAN_SAVINGS_H_
