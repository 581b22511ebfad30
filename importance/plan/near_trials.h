// SPDX-License-Identifier: Apache-2.0
//
// File: near_trials.h
//
// Which trials are like a plan.
#ifndef FROSTLINE_IMPORTANCE_PLAN_NEAR_TRIALS_H_
#define FROSTLINE_IMPORTANCE_PLAN_NEAR_TRIALS_H_

#include <cstdint>
#include <vector>

#include "importance/plan/plan_choices.h"

namespace frostline::importance {

struct NearTrials {
  // That whose rates differ in fewest modules; of equal ones the best.
  std::int64_t nearest = 0;
  int differs_in = 0;
  // Those that differ least in what matters, each parameter counting with what
  // it changes along it; at most five, the best first.
  std::vector<std::int64_t> supporting;
};

NearTrials FindNearTrials(const PlanChoices& choices, const PlanChoice& plan);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_NEAR_TRIALS_H_
