// SPDX-License-Identifier: Apache-2.0
//
// File: ledger_tally.h
//
// Counts what became of trials and attempts. What a group does is noted first,
// and counted once it is on disk. So whoever hears OK finds it counted, and a
// group that is undone counts for nothing.
#ifndef FROSTLINE_SERVER_LEDGER_LEDGER_TALLY_H_
#define FROSTLINE_SERVER_LEDGER_LEDGER_TALLY_H_

#include <array>
#include <cstdint>
#include <vector>

#include "base/metrics.h"
#include "server/ledger/trial_machine.h"

namespace frostline::server {

// The counts so far. Any thread may read.
struct LedgerCounts {
  static constexpr std::size_t kStates = 9;  // more states than either enum has
  std::array<Counter, kStates> trials_ended;    // by TrialState
  std::array<Counter, kStates> attempts_ended;  // by AttemptState
  Counter granted;
  Counter expired;
  Counter reinstated;
  Counter late_accepted;
  Counter late_superseded;
  Counter requeued_trial;
  Counter requeued_infrastructure;
  Counter requeued_handed_back;
  // Microseconds of training, as workers report them for trials that ended.
  Counter train_us;
  Counter total_us;
  Counter mega_flops_spent;
  Counter mega_flops_skipped;
  Counter mega_flops_shared;
  Counter prefix_hits;
  Counter prefix_misses;
  Counter prefix_bytes;
  Counter energy_millijoules;
};

// The counts of the group at work. Used on the loop's thread.
class LedgerTally {
 public:
  explicit LedgerTally(LedgerCounts& counts) : counts_(counts) {}

  // `before` is the trial to which `change` will be applied, if it is open.
  void Note(const OpenTrial* before, const Transition& change);
  void NoteExpired() { Add(counts_.expired); }

  void Committed();
  void Undone() { noted_.clear(); }

 private:
  struct Noted {
    Counter* counter;
    std::int64_t more;
  };
  void Add(Counter& counter, std::int64_t more = 1) {
    noted_.push_back({&counter, more});
  }
  void NoteAttempt(const OpenTrial* before, const storage::AttemptRow& attempt);
  void NoteRequeued(const storage::TrialRow& row,
                    const storage::AttemptRow& ended);
  void NoteUsage(const storage::TrialRow& row);

  LedgerCounts& counts_;
  std::vector<Noted> noted_;  // keeps its memory from group to group
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LEDGER_LEDGER_TALLY_H_
