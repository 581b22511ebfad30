// SPDX-License-Identifier: Apache-2.0
//
// File: cells.h
//
// Parameters as axes of cells, and the trials in them.
#ifndef FROSTLINE_SAMPLER_TPE_CELLS_H_
#define FROSTLINE_SAMPLER_TPE_CELLS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "sampler/draw/random.h"
#include "sampler/split.h"
#include "study/history.h"
#include "study/objective.h"
#include "study/space.h"

namespace frostline::sampler {

// A parameter as cells. A cell is a level, a choice or one of few numbers, or
// one of kBins of equal width on a continuous range. Frozen is the first cell.
// Each cell has a share of the prior (equal; frozen among rates has
// `frozen_share`) and a place on the line, as a share of the box.

using Cell = std::uint16_t;
inline constexpr Cell kNoCell = 0xffff;  // the parameter is absent

class CellAxis {
 public:
  static constexpr std::size_t kBins = 128;

  // Levels that are not `ordinal` are choices without an order.
  CellAxis(const Domain& domain, bool ordinal, double frozen_share);

  std::size_t cells() const { return prior_.size(); }
  // Says whether a cell is one value; else it is a bin of them.
  bool exact() const { return exact_; }
  bool ordered() const { return ordered_; }
  // Says whether cell 0 is frozen, a kind of its own.
  bool frozen() const { return frozen_; }
  double prior(std::size_t cell) const { return prior_[cell]; }
  double place(std::size_t cell) const { return place_[cell]; }
  // Returns the gap between neighbours; bins have a seventh of the box.
  double step() const { return step_; }

  // Axes of one shape have the same kernels.
  bool SameShape(const CellAxis& other) const;

  // REQUIRES: `value` is of the domain.
  Cell CellOf(double value) const;
  // Returns the only value of the cell, or one anywhere within the bin.
  double ValueIn(Cell cell, Rng& rng) const;

 private:
  double ShareOfBox(double value) const;

  std::optional<NumericRange> range_;
  std::vector<double> values_;  // where cells are exact
  std::vector<double> prior_;
  std::vector<double> place_;
  double step_ = 1.0;
  bool exact_ = true;
  bool ordered_ = true;
  bool frozen_ = false;
};

// Adding a trial costs the same however many there were.

struct RankedTrial {
  SplitGroup group = SplitGroup::kFinished;
  double first = 0.0, second = 0.0;  // as in SplitKey
  std::int64_t number = 0;
  std::uint32_t index = 0;  // in History::trials()
};

class TrialShortlist {
 public:
  // How many of the best, and of all, are kept ready.
  static constexpr std::size_t kBest = 64;
  static constexpr std::size_t kSample = 640;

  // Takes trials with or without a result.
  void AddToSample(std::int64_t number, std::uint32_t index);
  // REQUIRES: the trial has a result.
  void Rank(const RankedTrial& trial);
  void Clear();

  // The best trials, at most kBest; among equals the older is better.
  const std::vector<RankedTrial>& best() const { return best_; }
  // Returns indices of all or, beyond kSample + kBest, of a sample that changes
  // little from call to call.
  std::vector<std::uint32_t> Sample() const;

 private:
  std::vector<RankedTrial> best_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> sample_;  // by lot
};

// The cells of all trials. The table follows the change log; a trial that ended
// costs the same however many there are. It takes at most ~150 bytes a trial
// with 26 parameters.
//
// It keeps references.
class CellTable {
 public:
  CellTable(const Space& space, const std::vector<Objective>& objectives,
            const std::vector<CellAxis>& axes)
      : space_(space), objectives_(objectives), axes_(axes) {}

  // After this the table is what a fresh one would be.
  void CatchUp(const History& history);

  enum class Use : std::uint8_t { kNone, kResult, kFailed, kRunning, kQueued };

  // A result is a trial that finished, was pruned or broke constraints;
  // failures have none.
  std::size_t results() const { return results_; }
  std::size_t failures() const { return failures_; }
  const std::vector<RankedTrial>& best() const { return shortlist_.best(); }
  // Samples results and failures.
  std::vector<std::uint32_t> Sample() const { return shortlist_.Sample(); }
  // They are by rising number.
  const std::set<std::pair<std::int64_t, std::uint32_t>>& running() const {
    return running_;
  }

  Use use(std::uint32_t index) const { return uses_[index]; }
  std::span<const Cell> cells(std::uint32_t index) const {
    return {&cells_[index * axes_.size()], axes_.size()};
  }
  // Counts how often all were read again because a result changed, for tests.
  std::size_t rebuilds() const { return rebuilds_; }

  std::size_t TimesTried(const Point& point) const;
  bool IsSamePoint(const Point& a, const Point& b) const {
    return HashOf(a) == HashOf(b);
  }

 private:
  // Hashes the cells where they are values: stepped ones carry rounding.
  std::uint64_t HashOf(Point point) const;
  void Clear();
  void Forget(std::uint32_t index);
  void Learn(const Observation& trial, std::uint32_t index);
  void Rebuild(const History& history);
  void Place(const Observation& trial, std::uint32_t index);

  const Space& space_;
  const std::vector<Objective>& objectives_;
  const std::vector<CellAxis>& axes_;
  std::int64_t revision_ = 0;
  std::size_t results_ = 0, failures_ = 0;
  std::size_t rebuilds_ = 0;
  bool stale_ = false;     // the shortlist lost a trial
  std::vector<Use> uses_;  // as History::trials()
  std::vector<std::uint64_t> hashes_;
  std::vector<Cell> cells_;  // by trial, then axis
  TrialShortlist shortlist_;
  std::set<std::pair<std::int64_t, std::uint32_t>> running_;
  std::unordered_map<std::uint64_t, std::uint32_t> tried_;
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_TPE_CELLS_H_
