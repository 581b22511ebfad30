// SPDX-License-Identifier: Apache-2.0
//
// File: running_trials.h
#ifndef FROSTLINE_SERVER_LEDGER_RUNNING_TRIALS_H_
#define FROSTLINE_SERVER_LEDGER_RUNNING_TRIALS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "server/ledger/lease_book.h"

namespace frostline::server {

// It is what the worker last said.
struct RunProgress {
  std::int64_t step = 0;
  std::int64_t total_steps = 0;
  SteadyTime stepped{};
};

// It is not thread-safe.
class RunningTrials {
 public:
  // Begins or renews a lease.
  void LeaseUntil(TrialKey trial, SteadyTime end) { leases_.Set(trial, end); }
  void NoteProgress(TrialKey trial, const RunProgress& progress) {
    progress_[trial] = progress;
  }
  // Every answer tells the attempt until it has obeyed.
  void WantPruned(TrialKey trial, std::int64_t attempt, std::string reason) {
    prune_wanted_[trial] = {attempt, std::move(reason)};
  }
  // So many steps of the attempt's curve are stored.
  void NoteSteps(TrialKey trial, std::int64_t attempt, std::int64_t steps) {
    steps_[trial] = {attempt, steps};
  }
  // What was noted may be undone: StepsOf() answers nothing again.
  void ForgetSteps(TrialKey trial) { steps_.erase(trial); }
  void Forget(TrialKey trial) {
    steps_.erase(trial);
    leases_.Remove(trial);
    progress_.erase(trial);
    prune_wanted_.erase(trial);
  }

  const LeaseBook& leases() const { return leases_; }
  void PostponeLeases(Duration by) { leases_.PostponeAll(by); }
  std::optional<RunProgress> ProgressOf(TrialKey trial) const {
    const auto found = progress_.find(trial);
    if (found == progress_.end()) return std::nullopt;
    return found->second;
  }
  // Answers nothing where nobody has counted since the start.
  std::optional<std::int64_t> StepsOf(TrialKey trial,
                                      std::int64_t attempt) const {
    const auto found = steps_.find(trial);
    if (found == steps_.end() || found->second.first != attempt) {
      return std::nullopt;
    }
    return found->second.second;
  }
  std::optional<std::string> PruneReason(TrialKey trial,
                                         std::int64_t attempt) const {
    const auto found = prune_wanted_.find(trial);
    if (found == prune_wanted_.end() || found->second.first != attempt) {
      return std::nullopt;
    }
    return found->second.second;
  }

 private:
  LeaseBook leases_;
  std::map<TrialKey, RunProgress> progress_;
  std::map<TrialKey, std::pair<std::int64_t, std::int64_t>> steps_;
  std::map<TrialKey, std::pair<std::int64_t, std::string>> prune_wanted_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LEDGER_RUNNING_TRIALS_H_
