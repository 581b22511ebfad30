// SPDX-License-Identifier: Apache-2.0
//
// File: cells.h
//
// The table follows the change log; a trial that ended costs the same however
// many there are. It takes at most ~150 bytes a trial with 26 parameters.
#ifndef FROSTLINE_SAMPLER_TPE_CELLS_H_
#define FROSTLINE_SAMPLER_TPE_CELLS_H_

#include <cstdint>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sampler/tpe/cell_axis.h"
#include "sampler/tpe/trial_shortlist.h"
#include "study/history.h"
#include "study/objective.h"
#include "study/space.h"

namespace frostline::sampler {

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
