// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/ledger_tally.h"

#include "server/ledger/study_book.h"

namespace frostline::server {
namespace {

bool Runs(const OpenTrial* trial) {
  return trial != nullptr && trial->row.state == TrialState::kRunning;
}

}  // namespace

void LedgerTally::Note(const OpenTrial* before, const Transition& change) {
  for (const storage::AttemptRow& attempt : change.attempts) {
    NoteAttempt(before, attempt);
  }
  if (before == nullptr || !change.row.has_value()) return;
  const storage::TrialRow& row = *change.row;
  if (row.state == TrialState::kQueued && Runs(before) &&
      !change.attempts.empty()) {
    NoteRequeued(row, change.attempts.front());
  }
  if (!IsTerminal(row.state)) return;
  Add(counts_.trials_ended[static_cast<std::size_t>(row.state)]);
  NoteUsage(row);
}

// An attempt that was lost before, and delivers now, has ended already.
void LedgerTally::NoteAttempt(const OpenTrial* before,
                              const storage::AttemptRow& attempt) {
  const bool is_newest =
      before != nullptr && attempt.attempt == before->row.attempt;
  switch (attempt.state) {
    case AttemptState::kRunning:
      if (before == nullptr || Runs(before)) return;  // a new checkpoint
      return Add(is_newest ? counts_.reinstated : counts_.granted);
    case AttemptState::kSuperseded:
      return Add(counts_.late_superseded);
    case AttemptState::kCompleted:
      if (!is_newest || !Runs(before)) return Add(counts_.late_accepted);
      [[fallthrough]];
    default:
      Add(counts_.attempts_ended[static_cast<std::size_t>(attempt.state)]);
  }
}

void LedgerTally::NoteRequeued(const storage::TrialRow& row,
                               const storage::AttemptRow& ended) {
  const bool failed = ended.state == AttemptState::kFailed ||
                      ended.state == AttemptState::kLost;
  if (!failed) return Add(counts_.requeued_handed_back);
  Add(row.failure == FailureClass::kTrial ? counts_.requeued_trial
                                          : counts_.requeued_infrastructure);
}

void LedgerTally::NoteUsage(const storage::TrialRow& row) {
  const TrialCost cost = CostOf(row);
  Add(counts_.train_us, cost.train_us);
  Add(counts_.total_us, cost.total_us);
  Add(counts_.mega_flops_spent, cost.mega_flops_spent);
  Add(counts_.mega_flops_skipped, cost.mega_flops_skipped);
  Add(counts_.mega_flops_shared, cost.mega_flops_shared);
  Add(counts_.prefix_hits, cost.prefix_hits);
  Add(counts_.prefix_misses, cost.prefix_misses);
  Add(counts_.prefix_bytes, cost.prefix_bytes);
  Add(counts_.energy_millijoules, cost.energy_millijoules);
}

void LedgerTally::Committed() {
  for (const Noted& noted : noted_) noted.counter->Add(noted.more);
  noted_.clear();
}

}  // namespace frostline::server
