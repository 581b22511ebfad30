// SPDX-License-Identifier: Apache-2.0
//
// File: plan_search.h
//
// Searches for the best point with given modules frozen or trained. It moves
// one parameter at a time until nothing improves, from several starts.
#ifndef FROSTLINE_IMPORTANCE_PLAN_PLAN_SEARCH_H_
#define FROSTLINE_IMPORTANCE_PLAN_PLAN_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "importance/plan/study_belief.h"
#include "study/space.h"

namespace frostline::importance {

// Plans are chosen among points with a value (cells.h) for each
// parameter, as conditions allow.

enum class Demand { kAny, kFrozen, kTrained };
using Demands = std::vector<Demand>;  // by Space::modules()

// The points that a plan may be.
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

  // Returns tried points, the most promising first; of very many trials the
  // best.
  const std::vector<PlanChoice>& tried() const { return tried_; }
  // Returns the best value of each parameter beside tried()[0].
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

// The search for the best of them.
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

// Two points that tell what it costs to freeze a module: one trains it at its
// most promising rate, one freezes it, and the other modules are as planned.

struct TrainedAndFrozen {
  PlanChoice trained;
  PlanChoice frozen;
};

// Goes by Space::modules(); nullopt stands where one cannot be, or the
// surrogate lacks its parameter.
std::vector<std::optional<TrainedAndFrozen>> CompareFreezing(
    const PlanSearch& search, const PlanChoice& plan);

struct NearTrials {
  // This trial's rates differ in fewest modules; of equals it is the best.
  std::int64_t nearest = 0;
  int differs_in = 0;
  // At most five differ least, parameters weighed by what they change; the best
  // comes first.
  std::vector<std::int64_t> supporting;
};

NearTrials FindNearTrials(const PlanChoices& choices, const PlanChoice& plan);

// A plan takes the most promising point that is at least as good as the best
// trial with kWorthMoving, else that trial: no follower of a plan is worse off
// than who copies it.

inline constexpr double kWorthMoving = 0.9;

PlanChoice ChoosePoint(const PlanSearch& search);

// Freezes module by module, the cheapest first, others' rates chosen anew, as
// far as all costs at most `tolerance` with kSureEnough; none without a
// tolerance.
PlanChoice FreezeMore(const PlanSearch& search, const PlanChoice& choice,
                      double tolerance);

// Applies ChoosePoint, then FreezeMore.
PlanChoice PlanPoint(const PlanSearch& search, double tolerance);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_PLAN_SEARCH_H_
