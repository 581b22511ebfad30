// SPDX-License-Identifier: Apache-2.0
//
// File: plan_savings.h
//
// What a plan costs and saves, by what its trials took: least squares on which
// modules each of them left frozen. Trained parameters are a sum over modules
// and so come out exactly; seconds are as sure as the trials make them.
#ifndef FROSTLINE_IMPORTANCE_PLAN_PLAN_SAVINGS_H_
#define FROSTLINE_IMPORTANCE_PLAN_PLAN_SAVINGS_H_

#include <vector>

#include "study/history.h"
#include "study/space.h"

namespace frostline::importance {

// Against training every module that the space can train. NaN where the trials
// cannot tell: none says what it took, no trial froze a module of the plan or
// none trained it, or seconds are too noisy.
struct PlanSavings {
  double trained_parameters = 0.0;
  double seconds_share = 0.0;
};

// `plan` and the trials lie in the space.
PlanSavings EstimateSavings(const Space& space,
                            const std::vector<const Observation*>& trials,
                            const Point& plan);

// Of one trial at a point. NaN where the trials cannot tell.
struct PlanCosts {
  double trained_parameters = 0.0;
  double seconds = 0.0;
};

PlanCosts EstimateCosts(const Space& space,
                        const std::vector<const Observation*>& trials,
                        const Point& point);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_PLAN_SAVINGS_H_
