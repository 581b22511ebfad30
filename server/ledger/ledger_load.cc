// SPDX-License-Identifier: Apache-2.0
//
// Memory from the store, at the start and after a group that could not be
// written.
#include <utility>

#include "base/failpoint.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "server/ledger/ledger.h"
#include "server/wire/stored_study.h"
#include "storage/scan.h"

namespace frostline::server {

absl::Status Ledger::Load(Duration grace, const Loading& loading) {
  FROSTLINE_FAILPOINT(kLoadBefore);
  studies_.clear();
  key_of_study_.clear();
  workers_.Clear();
  replies_.Undone();
  fresh_attempts_.clear();
  unsettled_.clear();
  changed_.clear();
  std::string after_worker;
  while (true) {
    ASSIGN_OR_RETURN(const std::vector<storage::WorkerRow> page,
                     store_.ListWorkers(after_worker, storage::kScanPage));
    for (const storage::WorkerRow& row : page) workers_.Absorb(row);
    if (page.size() < storage::kScanPage) break;
    after_worker = page.back().id;
  }
  // Leases that were known keep their end: a failed write does not shorten
  // them.
  const RunningTrials known = std::exchange(running_, RunningTrials());
  RETURN_IF_ERROR(storage::ForEachStudy(
      store_, {}, [&](const storage::StudyRow& row) FROSTLINE_ON_LOOP {
        return LoadStudy(row, known.leases(), grace, loading);
      }));
  FROSTLINE_FAILPOINT(kLoadAfter);
  return absl::OkStatus();
}

absl::Status Ledger::LoadStudy(const storage::StudyRow& row,
                               const LeaseBook& known, Duration grace,
                               const Loading& loading) {
  absl::StatusOr<CheckedStudy> stored = CheckStored(row, default_lease_);
  if (!stored.ok()) {
    // One study that this version cannot read must not keep the others down.
    Log(LogLevel::kError, "study_not_loaded",
        {{"study", row.id}, {"error", std::string(stored.status().message())}});
    return absl::OkStatus();
  }
  StudyBook book(row, std::make_shared<const CheckedStudy>(*std::move(stored)));
  RETURN_IF_ERROR(storage::ForEachTrial(
      store_, {.study = row.key},
      [&](const storage::TrialRow& trial) FROSTLINE_ON_LOOP -> absl::Status {
        std::optional<storage::AttemptRow> newest;
        if (!IsTerminal(trial.state)) {
          ASSIGN_OR_RETURN(std::vector<storage::AttemptRow> attempts,
                           store_.ListAttempts(row.key, trial.number));
          if (!attempts.empty()) newest = std::move(attempts.back());
        }
        book.Absorb(trial, newest);
        RETURN_IF_ERROR(loading.trial(book, trial));
        if (trial.state != TrialState::kRunning) return absl::OkStatus();
        const TrialKey key{row.key, trial.number};
        running_.LeaseUntil(
            key, known.Find(key).value_or(clock_.Steady() +
                                          book.checked().lease.ttl + grace));
        NoteRun(trial);
        return absl::OkStatus();
      }));
  book.Committed();
  RETURN_IF_ERROR(loading.study(book));
  key_of_study_[row.id] = row.key;
  studies_.emplace(row.key, std::move(book));
  return absl::OkStatus();
}

}  // namespace frostline::server
