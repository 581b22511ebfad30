// SPDX-License-Identifier: Apache-2.0
//
// File: level_search.h
//
// Looks for the point worth trying most: from several starts, along one axis
// after the other to its best cell, until no axis offers a better one. Every
// cell looked at is remembered as a candidate, so the best point that nobody
// has tried is known even when the climb ends on one that somebody has.
#ifndef FROSTLINE_SAMPLER_GP_LEVEL_SEARCH_H_
#define FROSTLINE_SAMPLER_GP_LEVEL_SEARCH_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "sampler/gp/level_axis.h"
#include "sampler/gp/level_choices.h"
#include "sampler/gp/search_goal.h"
#include "sampler/gp/trial_ledger.h"
#include "study/space.h"
#include "surrogate/point_walk.h"

namespace frostline::sampler {

// Keeps references to all it is made from; lives for one proposal.
class LevelSearch {
 public:
  LevelSearch(const Space& space, const std::vector<LevelAxis>& axes,
              const SearchGoal& goal, const PointSet& seen, Rng& rng);

  // Climbs from the best of `tried` (not empty, best first) and from the most
  // promising of many points drawn at random and around them.
  void Run(const std::vector<Cells>& tried);

  // The best point not seen before, if any was looked at.
  const std::optional<Point>& best() const { return best_; }

 private:
  struct Start {
    double score = 0.0;
    Cells choices;
  };

  // The most promising of points drawn at random and around `tried`.
  std::vector<Start> DrawStarts(const std::vector<Cells>& tried);
  void Climb(Cells start);
  // Goes to a start, and remembers it as a candidate.
  double Begin(Cells start);
  void Place(const Cells& choices);
  // Goes to the best cell of the axis; false: it is there already.
  bool ImproveAxis(std::size_t axis);
  bool ImproveParent(std::size_t axis);
  // Remembers `choices` with `cell` on the axis if no better is known.
  void Offer(Cells choices, std::size_t axis, int cell, double score);

  const std::vector<LevelAxis>& axes_;
  SearchGoal goal_;
  const PointSet& seen_;
  Rng& rng_;
  LevelChoices levels_;
  surrogate::PointWalk loss_;
  std::optional<surrogate::PointWalk> failure_;
  // Where the climb is.
  Cells choices_;
  std::vector<bool> active_;
  double score_ = 0.0;
  std::optional<Point> best_;
  double best_score_ = 0.0;
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_GP_LEVEL_SEARCH_H_
