// SPDX-License-Identifier: Apache-2.0
//
// File: best_trials.h
//
// Keeps the best trial, or with several objectives the Pareto set: the trials
// that no other dominates. They stand by rising losses, the first objective's
// before the second's. So a trial can only be dominated by one before it, and
// dominates only later ones.
//
// With two objectives the set is a stair: the second loss falls from step to
// step, so the nearest neighbour tells, and an offer costs O(log n) amortised.
// With more it costs O(trials of the set).
//
// Only those count that break the study's constraints least: those that break
// none, once there is one.
#ifndef FROSTLINE_SERVER_LEDGER_BEST_TRIALS_H_
#define FROSTLINE_SERVER_LEDGER_BEST_TRIALS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "study/objective.h"

namespace frostline::server {

// It is not thread-safe.
class BestTrials {
 public:
  explicit BestTrials(std::vector<Objective> objectives)
      : objectives_(std::move(objectives)) {}

  // Takes `values`, a finite one per objective and perhaps one more, by how
  // much the trial breaks its study's constraints. Of equal trials the earlier
  // stays; with several objectives both do. Says whether it is among the best.
  bool Offer(std::int64_t number, const std::vector<double>& values);

  // Returns them best first, by the first objective; at most so many.
  std::vector<std::int64_t> Numbers(
      std::size_t most = std::numeric_limits<std::size_t>::max()) const;
  // Returns the best by the first objective, with its values.
  struct Best {
    std::int64_t number = 0;
    std::vector<double> values;  // one per objective
  };
  std::optional<Best> First() const;
  // Counts the comparisons with trials of the set so far.
  std::int64_t comparisons() const { return comparisons_; }

 private:
  using Losses = std::vector<double>;
  using Front = std::multimap<Losses, std::int64_t>;  // numbers

  bool IsDominated(const Losses& losses, Front::const_iterator after);
  void DropDominated(const Losses& losses, Front::iterator from);
  bool Beats(const Losses& a, const Losses& b);

  std::vector<Objective> objectives_;
  double least_violation_ = std::numeric_limits<double>::infinity();
  Front front_;
  std::int64_t comparisons_ = 0;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LEDGER_BEST_TRIALS_H_
