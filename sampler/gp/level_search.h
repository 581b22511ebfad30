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

#include <optional>
#include <vector>

#include "base/rng.h"
#include "sampler/gp/level_axis.h"
#include "sampler/gp/posterior.h"
#include "sampler/gp/trial_ledger.h"
#include "study/space.h"

namespace frostline {

// What is wanted: a loss below `best`, from a trial that does not fail.
struct SearchGoal {
  const LevelPosterior* loss = nullptr;
  double best = 0.0;
  // Of failures as targets; nullptr when there was none.
  const LevelPosterior* failure = nullptr;
  double failure_rate = 0.0;
  double failure_deviation = 0.0;
};

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
  std::uint8_t DrawChoice(const LevelAxis& axis);
  Cells Draw();
  // `from` with each axis changed with probability `share`.
  Cells Vary(Cells from, double share);
  double ScoreOf(Cells start);
  void Climb(Cells start);
  // A choice where `choices` has none because the axis was switched off.
  void Complete(Cells& choices);
  Cells ActiveCells(const Cells& choices);
  // The middles of the cells, or with `any` any of their values.
  Point PointOf(const Cells& choices, Rng* any) const;
  void Place(const Cells& choices);
  double Score(const Belief& loss, const Belief& failure) const;
  double ScoreHere() const;
  bool ImproveAxis(std::size_t axis);
  bool ImproveParent(std::size_t axis);
  void Offer(Cells choices, std::size_t axis, int cell, double score);
  std::vector<int> CellsToLook(std::size_t axis) const;

  const Space& space_;
  const std::vector<LevelAxis>& axes_;
  SearchGoal goal_;
  const PointSet& seen_;
  Rng& rng_;
  bool conditional_;
  std::vector<bool> is_parent_;
  PosteriorWalk loss_;
  std::optional<PosteriorWalk> failure_;
  // Where the climb is: a choice on every axis, those switched off included.
  Cells choices_;
  std::vector<bool> active_;
  double score_ = 0.0;
  std::optional<Point> best_;
  double best_score_ = 0.0;
};

}  // namespace frostline

#endif  // FROSTLINE_SAMPLER_GP_LEVEL_SEARCH_H_
