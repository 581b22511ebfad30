// SPDX-License-Identifier: Apache-2.0
//
// File: plan_choices.h
//
// Plans are chosen among points with a value (axis_values.h) for each
// parameter, as conditions allow.
#ifndef FROSTLINE_IMPORTANCE_PLAN_PLAN_CHOICES_H_
#define FROSTLINE_IMPORTANCE_PLAN_PLAN_CHOICES_H_

#include <cstddef>
#include <vector>

#include "importance/plan/study_belief.h"
#include "study/space.h"

namespace frostline::importance {

enum class Demand { kAny, kFrozen, kTrained };
using Demands = std::vector<Demand>;  // by Space::modules()

class PlanChoices {
 public:
  // Keeps a reference.
  explicit PlanChoices(const StudyBelief& belief);

  const StudyBelief& belief() const { return belief_; }
  const Space& space() const { return belief_.space(); }
  const std::vector<AxisValue>& values(std::size_t parameter) const {
    return belief_.rows().choices[parameter].values;
  }
  bool has_conditions() const { return has_conditions_; }

  // Has tried points, the most promising first; of very many trials the best.
  const std::vector<PlanChoice>& tried() const { return tried_; }
  // Has each parameter's best value beside tried()[0].
  const PlanChoice& favourites() const { return favourites_; }
  // Sets another value; conditions make others absent or give them their
  // favourites.
  PlanChoice With(PlanChoice choice, std::size_t parameter,
                  std::size_t value) const;

  // Returns a trial's own point where there is one.
  Point PointOf(const PlanChoice& choice) const;
  // Asks the likeliest few sets of scales.
  double Worth(const PlanChoice& choice) const;
  // Says whether the surrogate has its parameter.
  bool IsKnown(std::size_t module) const;
  bool IsFrozen(std::size_t module, const PlanChoice& choice) const;
  bool Meets(const PlanChoice& choice, const Demands& demands) const;
  bool IsInSpace(const PlanChoice& choice) const;
  std::vector<bool> FrozenOf(const PlanChoice& choice) const;

 private:
  Point ValuesOf(const PlanChoice& choice) const;
  void FindTried();
  void FindFavourites();

  const StudyBelief& belief_;
  bool has_conditions_;
  std::vector<PlanChoice> tried_;
  PlanChoice favourites_;
};

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_PLAN_CHOICES_H_
