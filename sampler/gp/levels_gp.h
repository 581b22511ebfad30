// SPDX-License-Identifier: Apache-2.0
//
// File: levels_gp.h
//
// A sampler with a Gaussian process for which levels are ordered, frozen is a
// kind of its own, and effects mostly add up (surrogate/rows.h). The next trial
// has the largest expected improvement over the best loss (beliefs.h).
//
//   failed, infeasible   a second process learns where; its chance of success
//                        multiplies the improvement
//   running              rows without a target: no two proposals collapse
//   pruned               the last report, believed less than a final loss
//   earlier studies      rows of another study, with a learnt tie
//   switched off         as frozen
//
// TPE proposes with several objectives, a categorical of more than kLineCells
// choices, more than kMostParametersOfGp parameters, and beyond max_trials
// (1,200). Until startup_trials (parameters + 1, between 10 and 16) have a
// loss, every level is drawn equally often.
#ifndef FROSTLINE_SAMPLER_GP_LEVELS_GP_H_
#define FROSTLINE_SAMPLER_GP_LEVELS_GP_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "absl/status/statusor.h"
#include "base/rng.h"
#include "sampler/cost.h"
#include "sampler/gp/beliefs.h"
#include "sampler/gp/levels.h"
#include "sampler/sampler.h"
#include "study/space.h"
#include "surrogate/growing_surrogate.h"

namespace frostline::sampler {

// Chooses cells for a proposal, also on axes that a condition switches off, for
// when they are switched on again.
//
// It keeps references.
class LevelChoices {
 public:
  LevelChoices(const Space& space, const std::vector<LevelAxis>& axes,
               Rng& rng);

  Cells Draw();
  Cells Vary(Cells from, double share);
  // Draws where an axis was switched off.
  void Complete(Cells& choices);

  Point PointOf(const Cells& choices) const;
  // Takes any value of each cell, not the middle.
  Point DrawPointOf(const Cells& choices);

  // Puts axes that are switched off in their last cell. `active` is left alone
  // when none can be off.
  Cells ActiveCells(const Cells& choices, std::vector<bool>& active) const;

  // Says whether conditions hang on it.
  bool IsParent(std::size_t axis) const { return is_parent_[axis]; }

  // Returns every cell or, of a long line, every fourth and those near `now`.
  std::vector<int> CellsToLook(std::size_t axis, int now) const;

 private:
  std::uint8_t DrawChoice(const LevelAxis& axis);
  Point MakePoint(const Cells& choices, Rng* any) const;

  const Space& space_;
  const std::vector<LevelAxis>& axes_;
  Rng& rng_;
  bool conditional_;
  std::vector<bool> is_parent_;
};

// Searches for the best point. It climbs from several starts, along one axis
// after the other to its best cell, until none is better. Every cell looked at
// is a candidate, lest the climb ends on a tried point.
//
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
  // Returns false if it is there already.
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

// With more parameters it takes longer than tpe and was not shown to find more.
inline constexpr int kMostParametersOfGp = 64;

// Returns false if tpe proposes every trial.
bool CanServeLevelsGp(const Space& space,
                      const std::vector<Objective>& objectives);

std::int64_t UsualStartupOfLevelsGp(const Space& space);

absl::StatusOr<std::unique_ptr<Sampler>> MakeLevelsGpSampler(
    const SamplerInput& input);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_GP_LEVELS_GP_H_
