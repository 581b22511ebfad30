// SPDX-License-Identifier: Apache-2.0
//
// File: near_trials.h
#ifndef FROSTLINE_IMPORTANCE_PLAN_NEAR_TRIALS_H_
#define FROSTLINE_IMPORTANCE_PLAN_NEAR_TRIALS_H_

#include <cstdint>
#include <vector>

#include "importance/plan/plan_choices.h"

namespace frostline::importance {

struct NearTrials {
  // This trial's rates differ in fewest modules; of equals it is the best.
  std::int64_t nearest = 0;
  int differs_in = 0;
  // At most five differ least, parameters weighed by what they change; the best
  // comes first.
  std::vector<std::int64_t> supporting;
};

NearTrials FindNearTrials(const PlanChoices& choices, const PlanChoice& plan);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_NEAR_TRIALS_H_
