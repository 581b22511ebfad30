// SPDX-License-Identifier: Apache-2.0
//
// File: tpe.h
//
// In the tree-structured Parzen estimator (Bergstra et al., 2011, section 4)
// the good trials and the rest each become a density over the space, l and g,
// and of some candidates drawn from l the one with the largest l/g is proposed,
// which is the one of largest expected improvement.
//
// Ours knows that levels are ordered and frozen is of its own
// kind, keeps away from what failed, and repeats no point
// (docs/explanation/tpe.md). The option `compat` makes it Optuna's
// (optuna/compat.h).
#ifndef FROSTLINE_SAMPLER_TPE_TPE_H_
#define FROSTLINE_SAMPLER_TPE_TPE_H_

#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "absl/status/statusor.h"
#include "base/rng.h"
#include "sampler/cost.h"
#include "sampler/sampler.h"
#include "sampler/split.h"
#include "sampler/tpe/cells.h"
#include "sampler/tpe/tpe_model.h"
#include "study/space.h"

namespace frostline::sampler {

// A finder of untried points: those that were not tried as often as `dedup`
// allows. It keeps references. `own`, the point of the trial that asks, is no
// duplicate of itself.
class UntriedPoints {
 public:
  UntriedPoints(const Space& space, const TpeOptions& options)
      : space_(space), options_(options) {}

  bool IsTried(const CellTable& table, const Point* own,
               const Point& point) const;
  // Draws from the prior and, where that finds none, from all points of a
  // finite space that is not too large.
  std::optional<Point> Find(const CellTable& table, const Point* own,
                            Rng& rng) const;
  // Returns any point when there is none.
  Point Draw(const CellTable& table, const Point* own, Rng& rng) const;

 private:
  const Space& space_;
  const TpeOptions& options_;
};

// What TpeSearch is asked.
struct TpeQuestion {
  TpeModel& model;
  const CellTable& table;
  const Point* own = nullptr;       // of the trial itself: no duplicate
  const CostModel* cost = nullptr;  // nullptr: all cost the same
  std::size_t candidates = 32;
  int improve = 1;
  std::stop_token stop = {};  // ends the search for candidates
};

// A search, among candidates drawn from l and the neighbours of the best, for
// the largest expected improvement. With gamma the share of good trials,
// improvement goes up with 1 / (gamma + (1 - gamma) g/l) (Bergstra et al.,
// 2011, eq. 4). So without costs l/g decides, and with costs that improvement
// divided by the seconds of the trial (Snoek et al., NeurIPS 2012, section
// 3.2).
//
// The search chooses the best untried candidate or, where all were tried, the
// best untried neighbour of the best. Where there is none either, it takes any
// untried point, and a tried one only when it finds no other.
//
// It keeps references.
class TpeSearch {
 public:
  TpeSearch(const Space& space, const std::vector<CellAxis>& axes,
            const TpeOptions& options);

  Point Choose(const TpeQuestion& question, Rng& rng) const;
  // Draws from the prior any point, but an untried one while there is one.
  Point DrawUntried(const CellTable& table, const Point* own, Rng& rng) const {
    return untried_.Draw(table, own, rng);
  }

 private:
  struct Candidate {
    Point point;
    CellRow cells;
    double score = 0.0;
  };

  Candidate Draw(const CellDensity& good, Rng& rng) const;
  double Score(const TpeQuestion& question, double good, double rest,
               double failed, const Point& point) const;
  double ScoreOf(const TpeQuestion& question, const Candidate& x) const;
  // Returns the best untried point that differs in one parameter, if it is
  // better than `least`.
  std::optional<Candidate> BestNeighbour(const TpeQuestion& question,
                                         const Candidate& from, double least,
                                         Rng& rng) const;

  const Space& space_;
  const std::vector<CellAxis>& axes_;
  const TpeOptions& options_;
  UntriedPoints untried_;
  std::vector<bool> movable_;  // exact, and nothing hangs on it
};

// The sampler `tpe` without the option `compat`. It repeats points only as
// often as `dedup` allows, unless it finds no others.
class NativeTpe final : public Sampler {
 public:
  NativeTpe(const TpeOptions& options, const SamplerInput& input);
  NativeTpe(const NativeTpe&) = delete;
  NativeTpe& operator=(const NativeTpe&) = delete;

  // Counts the kernels of the last proposal's densities, for tests.
  std::size_t kernels_used() const { return kernels_used_; }
  const CellTable& table() const { return table_; }

 private:
  struct Sides {
    std::vector<WeightedCells> good, rest;
  };

  absl::StatusOr<Point> ProposeUntil(const std::stop_token& stop,
                                     const History& history,
                                     std::int64_t number, Rng& rng) override;

  // What they answer once stopped is of no use.
  Point Startup(const History& history, std::int64_t number, Rng& rng,
                const std::stop_token& stop);
  Point Informed(const History& history, std::int64_t number, Rng& rng,
                 const std::stop_token& stop);
  // Returns null while all trials are taken to cost the same.
  const CostModel* CostOf(const History& history);
  Sides SplitSides(const History& history, std::int64_t number,
                   const CostModel* cost);
  std::vector<std::uint32_t> GoodTrials(const History& history,
                                        std::int64_t number);
  void AddRest(const History& history, std::int64_t number,
               const std::vector<std::uint32_t>& good, Sides& sides) const;
  void AddPriors(const History& history, Sides& sides);
  const Point* PointOf(const History& history, std::int64_t number) const;

  TpeOptions options_;
  Space space_;
  std::vector<Objective> objectives_;
  std::vector<CellAxis> axes_;
  KernelCache kernels_;
  CellTable table_;
  TrialTable keys_;  // for several objectives
  TpeSearch search_;
  std::vector<PriorEvidence> priors_;
  CostModel cost_;  // as the option says
  std::size_t kernels_used_ = 0;
};

absl::StatusOr<std::unique_ptr<Sampler>> MakeTpeSampler(
    const SamplerInput& input);

// With several objectives (Ozaki et al., 2020 and 2022) tpe's good tenth are
// whole ranks of non-domination and of the last one those that add most
// hypervolume (sampler/split.h); they weigh the same, and their number has no
// limit. This name refuses a single objective.
absl::StatusOr<std::unique_ptr<Sampler>> MakeMotpeSampler(
    const SamplerInput& input);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_TPE_TPE_H_
