// SPDX-License-Identifier: Apache-2.0
//
// File: plan_search.h
//
// The points of the space of which most is expected, among those that leave
// given modules frozen or trained: one parameter at a time, until nothing
// improves, from several starts.
#ifndef FROSTLINE_IMPORTANCE_PLAN_PLAN_SEARCH_H_
#define FROSTLINE_IMPORTANCE_PLAN_PLAN_SEARCH_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "importance/plan/plan_choices.h"

namespace frostline::importance {

class PlanSearch {
 public:
  // Keeps a reference.
  explicit PlanSearch(const StudyBelief& belief);

  // The ends from all starts, nothing demanded, the best first.
  std::vector<PlanChoice> Best() const;
  // The best from one start, after at most `sweeps`; nullopt when no few
  // changes of it meet `demands`.
  std::optional<PlanChoice> BestFrom(const PlanChoice& start,
                                     const Demands& demands,
                                     int sweeps = kSweeps) const;
  const PlanChoices& choices() const { return choices_; }

 private:
  static constexpr int kSweeps = 12;

  std::optional<PlanChoice> Satisfy(const PlanChoice& start, std::size_t module,
                                    Demand demand) const;
  // The same where no parameter depends on another.
  std::optional<PlanChoice> SatisfyAlone(const PlanChoice& start,
                                         std::size_t module,
                                         const Demands& only) const;
  // The parameters whose values can freeze a module.
  std::vector<std::size_t> LeversOf(std::size_t module) const;
  // Which values of a parameter alone meet the demands.
  std::vector<bool> Allowed(std::size_t parameter, const PlanChoice& choice,
                            const Demands& demands) const;
  // Gives one parameter its best value; whether that was another.
  bool Improve(std::size_t axis, const Demands& demands,
               PlanChoice& choice) const;
  PlanChoice Descend(PlanChoice choice, const Demands& demands,
                     int sweeps) const;
  std::vector<PlanChoice> Starts() const;

  PlanChoices choices_;
};

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_PLAN_SEARCH_H_
