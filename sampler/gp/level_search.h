// SPDX-License-Identifier: Apache-2.0
//
// File: level_search.h
//
// The search climbs from several starts, along one axis after the other to its
// best cell, until none is better. Every cell looked at is a candidate, lest
// the climb ends on a tried point.
#ifndef FROSTLINE_SAMPLER_GP_LEVEL_SEARCH_H_
#define FROSTLINE_SAMPLER_GP_LEVEL_SEARCH_H_

#include <cstddef>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/rng.h"
#include "sampler/cost.h"
#include "sampler/gp/level_axis.h"
#include "sampler/gp/level_choices.h"
#include "sampler/gp/levels.h"
#include "sampler/gp/search_goal.h"
#include "study/space.h"
#include "surrogate/growing_surrogate.h"

namespace frostline::sampler {

// It keeps references, and lives for one proposal. Where there are costs what
// is looked for is the largest score per second.
class LevelSearch {
 public:
  LevelSearch(const Space& space, const std::vector<LevelAxis>& axes,
              const SearchGoal& goal, const CostModel* cost,
              const PointSet& seen, Rng& rng, std::stop_token stop = {});

  // Looks no further once stopped. REQUIRES: `tried` is not empty, and the best
  // come first.
  void Run(const std::vector<Cells>& tried);

  // The best point was not seen before.
  const std::optional<Point>& best() const { return best_; }

 private:
  struct Start {
    double score = 0.0;
    Cells choices;
  };

  // Starts are points drawn at random and around `tried`.
  std::vector<Start> DrawStarts(const std::vector<Cells>& tried);
  void Climb(Cells start);
  double Begin(Cells start);
  void Place(const Cells& choices);
  // Answers false when it is there already.
  bool ImproveAxis(std::size_t axis);
  bool ImproveParent(std::size_t axis);
  PointBeliefs Here() const;
  // The score of `choices` with `cell` on the axis, of which this is believed.
  double ScoreAt(std::size_t axis, int cell, const PointBeliefs& beliefs) const;
  // Looks at each of the cells of an axis.
  std::vector<PointBeliefs> Look(std::size_t axis,
                                 const std::vector<int>& cells);
  // Remembers `choices` with `cell` on the axis if none better is known.
  void Offer(Cells choices, std::size_t axis, int cell, double score);

  const std::vector<LevelAxis>& axes_;
  SearchGoal goal_;
  const CostModel* cost_;  // nullptr: all cost the same
  const PointSet& seen_;
  Rng& rng_;
  std::stop_token stop_;
  LevelChoices levels_;
  surrogate::PointWalk loss_;
  std::optional<surrogate::PointWalk> failure_;
  std::vector<surrogate::PointWalk> constraints_;  // as the goal's
  Cells choices_;
  std::vector<bool> active_;
  double score_ = 0.0;
  std::optional<Point> best_;
  double best_score_ = 0.0;
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_GP_LEVEL_SEARCH_H_
