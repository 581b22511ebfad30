// SPDX-License-Identifier: Apache-2.0
//
// File: lease_book.h
//
// Knows when each lease ends, on the steady clock. It judges nothing.
#ifndef FROSTLINE_SERVER_LEDGER_LEASE_BOOK_H_
#define FROSTLINE_SERVER_LEDGER_LEASE_BOOK_H_

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "storage/rows.h"

namespace frostline::server {

struct TrialKey {
  storage::StudyKey study = 0;
  std::int64_t number = 0;
  friend auto operator<=>(const TrialKey&, const TrialKey&) = default;
};

// It is not thread-safe. A call about one trial is O(log n).
class LeaseBook {
 public:
  void Set(TrialKey trial, SteadyTime deadline) {
    Remove(trial);
    deadline_of_[trial] = deadline;
    by_deadline_.insert({deadline, trial});
  }

  void Remove(TrialKey trial) {
    const auto found = deadline_of_.find(trial);
    if (found == deadline_of_.end()) return;
    by_deadline_.erase({found->second, trial});
    deadline_of_.erase(found);
  }

  std::optional<SteadyTime> Find(TrialKey trial) const {
    const auto found = deadline_of_.find(trial);
    if (found == deadline_of_.end()) return std::nullopt;
    return found->second;
  }

  void PostponeAll(Duration by) {
    std::set<std::pair<SteadyTime, TrialKey>> later;
    for (auto& [trial, deadline] : deadline_of_) {
      deadline += by;
      later.insert({deadline, trial});
    }
    by_deadline_ = std::move(later);
  }

  // Returns those that end at or before `now`, the earliest first.
  std::vector<TrialKey> Due(SteadyTime now) const {
    std::vector<TrialKey> due;
    for (const auto& [deadline, trial] : by_deadline_) {
      if (deadline > now) break;
      due.push_back(trial);
    }
    return due;
  }

  std::optional<SteadyTime> NextDue() const {
    if (by_deadline_.empty()) return std::nullopt;
    return by_deadline_.begin()->first;
  }

  std::size_t size() const { return deadline_of_.size(); }

 private:
  std::map<TrialKey, SteadyTime> deadline_of_;
  std::set<std::pair<SteadyTime, TrialKey>> by_deadline_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LEDGER_LEASE_BOOK_H_
