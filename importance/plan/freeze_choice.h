// SPDX-License-Identifier: Apache-2.0
//
// File: freeze_choice.h
//
// Which modules to freeze, chosen together with the rates of the others.
#ifndef FROSTLINE_IMPORTANCE_PLAN_FREEZE_CHOICE_H_
#define FROSTLINE_IMPORTANCE_PLAN_FREEZE_CHOICE_H_

#include <vector>

#include "importance/plan/plan_search.h"

namespace frostline {

// From the best choice there is (for each parameter its own best, unless the
// best of all together is clearly better), modules are frozen one by one, the
// cheapest first, and the rates of the others chosen anew, as long as what all
// of it costs cannot be told from noise, or is expected to be at most
// `tolerance`. A module of which the trials leave too much open is not frozen
// for that.
PlanChoice ChooseFrozen(const Space& space, const FittedLevels& fitted,
                        const PlanSearch& search, double tolerance);

// For each of Space::modules(): what freezing it costs against training it at
// its best, the other modules frozen as in `choice`. All NaN where the space
// cannot do both.
std::vector<Interval> CostsOfFreezing(const Space& space,
                                      const FittedLevels& fitted,
                                      const PlanSearch& search,
                                      const PlanChoice& choice);

}  // namespace frostline

#endif  // FROSTLINE_IMPORTANCE_PLAN_FREEZE_CHOICE_H_
