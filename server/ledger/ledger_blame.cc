// SPDX-License-Identifier: Apache-2.0
//
// What the ledger does about runs that fail (blame.h).
#include "base/error.h"
#include "base/log.h"
#include "server/ledger/ledger.h"

namespace frostline::server {

absl::Status Ledger::PutWorker(Batch& batch, WorkerEntry& entry,
                               const storage::WorkerRow& row) {
  RETURN_IF_ERROR(batch.Write([&row](storage::Transaction& transaction) {
    return transaction.PutWorker(row);
  }));
  TouchWorker(row.id);
  entry.row = row;
  return absl::OkStatus();
}

absl::Status Ledger::ForgetWorker(Batch& batch, const std::string& id) {
  RETURN_IF_ERROR(batch.Write([&id](storage::Transaction& transaction) {
    return transaction.ForgetWorker(id);
  }));
  TouchWorker(id);
  blame_.ForgetWorker(id);
  workers_.Forget(id);
  if (hooks_.worker_gone) hooks_.worker_gone(id);
  return absl::OkStatus();
}

void Ledger::JudgeRun(Batch& batch, StudyBook& book, std::int64_t number,
                      const std::string& worker, const Result& result) {
  if (result.kind == Result::Kind::kCancelled) return;  // says nothing
  const bool failed = result.kind == Result::Kind::kFailed;
  const storage::StudyKey study = book.row().key;
  BlameVerdict verdict;
  if (failed) {
    verdict = blame_.NoteFailure(worker, {study, number}, result.cause,
                                 clock_.Steady());
  } else {
    blame_.NoteSuccess(worker, study);
  }
  if (verdict.blamed == Blamed::kStudy && book.IsLeasing()) {
    Log(LogLevel::kWarning, "study_paused",
        {{"study", book.row().id}, {"why", verdict.why}});
    (void)SetState(batch, book, storage::StudyState::kPaused, verdict.why);
  }
  WorkerEntry* const entry = workers_.Find(worker);
  if (entry == nullptr ||
      entry->row.state == storage::WorkerState::kQuarantined) {
    return;  // what others of its slots still end does not change why
  }
  storage::WorkerRow row = entry->row;
  row.failures_in_a_row = failed ? row.failures_in_a_row + 1 : 0;
  if (verdict.blamed == Blamed::kWorker &&
      row.state == storage::WorkerState::kActive) {
    row.state = storage::WorkerState::kQuarantined;
    blame_.NoteQuarantined(worker, clock_.Steady());
  }
  if (verdict.blamed == Blamed::kWorker || verdict.blamed == Blamed::kPair) {
    Log(LogLevel::kWarning,
        verdict.blamed == Blamed::kPair ? "worker_kept_from_study"
                                        : "worker_quarantined",
        {{"worker", worker}, {"study", book.row().id}, {"why", verdict.why}});
  }
  if (row.failures_in_a_row != entry->row.failures_in_a_row) {
    // A failure is the store's own, and the group's: everybody in it is told.
    (void)PutWorker(batch, *entry, row);
  }
}

std::vector<std::string> Ledger::TakeBackWorkers(Batch& batch) {
  std::vector<std::string> back;
  for (const std::string& worker : blame_.TakePardoned(clock_.Steady())) {
    WorkerEntry* const entry = workers_.Find(worker);
    if (entry == nullptr ||
        entry->row.state != storage::WorkerState::kQuarantined) {
      continue;
    }
    storage::WorkerRow row = entry->row;
    row.state = storage::WorkerState::kActive;
    row.failures_in_a_row = 0;
    if (!PutWorker(batch, *entry, row).ok()) continue;
    Log(LogLevel::kInfo, "worker_tried_again", {{"worker", worker}});
    back.push_back(worker);
  }
  return back;
}

}  // namespace frostline::server
