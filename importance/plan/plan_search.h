// SPDX-License-Identifier: Apache-2.0
//
// File: plan_search.h
//
// One parameter at a time is moved until nothing improves, from several starts,
// with given modules frozen or trained.
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

  // Returns the ends of all starts, without demands, the best first.
  std::vector<PlanChoice> Best() const;
  // Returns nullopt where no few changes of `start` meet `demands`.
  std::optional<PlanChoice> BestFrom(const PlanChoice& start,
                                     const Demands& demands,
                                     int sweeps = kSweeps) const;
  const PlanChoices& choices() const { return choices_; }

 private:
  static constexpr int kSweeps = 12;

  std::optional<PlanChoice> Satisfy(const PlanChoice& start, std::size_t module,
                                    Demand demand) const;
  // Serves where no parameter depends on another.
  std::optional<PlanChoice> SatisfyAlone(const PlanChoice& start,
                                         std::size_t module,
                                         const Demands& only) const;
  // Returns parameters whose values can freeze it.
  std::vector<std::size_t> LeversOf(std::size_t module) const;
  // Says which values alone meet the demands.
  std::vector<bool> Allowed(std::size_t parameter, const PlanChoice& choice,
                            const Demands& demands) const;
  // Takes the best value, and says whether that is another.
  bool Improve(std::size_t axis, const Demands& demands,
               PlanChoice& choice) const;
  PlanChoice Descend(PlanChoice choice, const Demands& demands,
                     int sweeps) const;
  std::vector<PlanChoice> Starts() const;

  PlanChoices choices_;
};

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_PLAN_SEARCH_H_
