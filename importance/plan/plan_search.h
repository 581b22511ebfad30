// SPDX-License-Identifier: Apache-2.0
//
// File: plan_search.h
//
// The point of the space that a model of level effects expects most of, among
// those that leave given modules frozen or trained. Parameters are chosen
// together: one at a time, and those of every interaction of the model at once,
// until nothing improves, from several starts.
#ifndef FROSTLINE_IMPORTANCE_PLAN_PLAN_SEARCH_H_
#define FROSTLINE_IMPORTANCE_PLAN_PLAN_SEARCH_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "importance/fitted_levels.h"
#include "importance/plan/plan_choices.h"
#include "study/space.h"

namespace frostline {

class PlanSearch {
 public:
  // Keeps references to both.
  PlanSearch(const Space& space, const FittedLevels& fitted);

  // The best choice from all starts, nothing demanded.
  PlanChoice Best() const;
  // The best from one start; nullopt when no few changes of it meet `demands`.
  std::optional<PlanChoice> BestFrom(const PlanChoice& start,
                                     const Demands& demands) const;
  const PlanChoices& choices() const { return choices_; }

 private:
  std::optional<PlanChoice> Satisfy(const PlanChoice& start, std::size_t module,
                                    Demand demand) const;
  // The parameters whose values can freeze a module.
  std::vector<std::size_t> LeversOf(std::size_t module) const;
  // Replaces `choice` by the best that has other values of these axes.
  bool Improve(const std::vector<std::size_t>& axes, const Demands& demands,
               PlanChoice& choice) const;
  PlanChoice Descend(PlanChoice choice, const Demands& demands) const;
  std::vector<PlanChoice> Starts() const;

  const Space& space_;
  const FittedLevels& fitted_;
  PlanChoices choices_;
  std::vector<std::vector<std::size_t>> moves_;  // axes changed at once
};

}  // namespace frostline

#endif  // FROSTLINE_IMPORTANCE_PLAN_PLAN_SEARCH_H_
