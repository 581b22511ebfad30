// SPDX-License-Identifier: Apache-2.0
//
// File: plan_search.h
//
// The most promising points with given modules frozen or trained: one parameter
// at a time, until nothing improves, from several starts.
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

  // The ends of all starts, without demands, the best first.
  std::vector<PlanChoice> Best() const;
  // nullopt: no few changes of `start` meet `demands`.
  std::optional<PlanChoice> BestFrom(const PlanChoice& start,
                                     const Demands& demands,
                                     int sweeps = kSweeps) const;
  const PlanChoices& choices() const { return choices_; }

 private:
  static constexpr int kSweeps = 12;

  std::optional<PlanChoice> Satisfy(const PlanChoice& start, std::size_t module,
                                    Demand demand) const;
  // Where no parameter depends on another.
  std::optional<PlanChoice> SatisfyAlone(const PlanChoice& start,
                                         std::size_t module,
                                         const Demands& only) const;
  // Parameters whose values can freeze it.
  std::vector<std::size_t> LeversOf(std::size_t module) const;
  // Which values alone meet the demands.
  std::vector<bool> Allowed(std::size_t parameter, const PlanChoice& choice,
                            const Demands& demands) const;
  // Takes the best value; whether that is another.
  bool Improve(std::size_t axis, const Demands& demands,
               PlanChoice& choice) const;
  PlanChoice Descend(PlanChoice choice, const Demands& demands,
                     int sweeps) const;
  std::vector<PlanChoice> Starts() const;

  PlanChoices choices_;
};

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_PLAN_SEARCH_H_
