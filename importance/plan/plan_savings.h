// SPDX-License-Identifier: Apache-2.0
//
// File: plan_savings.h
//
// Least squares find what trials took by which modules they froze. Trained
// parameters are sums over modules, and so exact; seconds are as sure as the
// trials make them.
#ifndef FROSTLINE_IMPORTANCE_PLAN_PLAN_SAVINGS_H_
#define FROSTLINE_IMPORTANCE_PLAN_PLAN_SAVINGS_H_

#include <vector>

#include "study/history.h"
#include "study/space.h"

namespace frostline::importance {

// Savings are against training all that can be; NaN where no trial says what it
// took, froze or trained a module of the plan, or seconds are too noisy.
struct PlanSavings {
  double trained_parameters = 0.0;
  double seconds_share = 0.0;
};

// REQUIRES: all lie in the space.
PlanSavings EstimateSavings(const Space& space,
                            const std::vector<const Observation*>& trials,
                            const Point& plan);

struct PlanCosts {  // of one trial; NaN likewise
  double trained_parameters = 0.0;
  double seconds = 0.0;
};

PlanCosts EstimateCosts(const Space& space,
                        const std::vector<const Observation*>& trials,
                        const Point& point);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_PLAN_SAVINGS_H_
