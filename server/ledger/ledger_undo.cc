// SPDX-License-Identifier: Apache-2.0
//
// What becomes of memory when a group was not committed, and of leases when the
// coordinator was not there.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "server/ledger/ledger.h"

namespace frostline::server {

void Ledger::Touch(const StudyBook& book) {
  touched_.emplace(book.row().key, book.row().id);
}

std::set<storage::StudyKey> Ledger::Touched() const {
  std::set<storage::StudyKey> keys;
  for (const auto& [key, id] : touched_) keys.insert(key);
  return keys;
}

void Ledger::TouchWorker(const std::string& worker) {
  if (workers_before_.contains(worker)) return;
  const WorkerEntry* const entry = workers_.Find(worker);
  std::optional<storage::WorkerRow> before;
  if (entry != nullptr) before = entry->row;
  workers_before_.emplace(worker, std::move(before));
}

absl::StatusOr<WorkerEntry*> Ledger::Register(Batch& batch,
                                              const storage::WorkerRow& row) {
  RETURN_IF_ERROR(batch.Write([&row](storage::Transaction& transaction) {
    return transaction.PutWorker(row);
  }));
  TouchWorker(row.id);
  return &workers_.Absorb(row);
}

absl::Status Ledger::Undo() {
  tally_.Undone();
  replies_.Undone();
  // What was marked as changed is looked at all the same: it may have been for
  // another reason.
  UndoWorkers();
  const LeaseBook known = LeasesBefore();
  for (const auto& [key, id] : std::exchange(touched_, {})) {
    RETURN_IF_ERROR(UndoStudy(key, id, known));
  }
  return absl::OkStatus();
}

// A failed write neither shortens a lease nor makes it longer: one whose loss
// was refused is due again at once.
LeaseBook Ledger::LeasesBefore() {
  LeaseBook leases = running_.leases();
  for (const auto& [trial, end] : std::exchange(leases_before_, {})) {
    leases.Set(trial, end);
  }
  return leases;
}

void Ledger::UndoWorkers() {
  // That these were heard is not on disk: it will be written again.
  unheard_.merge(written_down_);
  written_down_.clear();
  for (const auto& [id, before] : std::exchange(workers_before_, {})) {
    if (!before.has_value()) {
      workers_.Forget(id);
      continue;
    }
    storage::WorkerRow row = *before;
    if (const WorkerEntry* const now = workers_.Find(id)) {
      // It was heard, whatever became of what it said.
      row.last_seen = std::max(row.last_seen, now->row.last_seen);
    }
    const WorkerEntry& entry = workers_.Absorb(row);
    if (hooks_.worker_undone) hooks_.worker_undone(entry);
  }
}

absl::Status Ledger::UndoStudy(storage::StudyKey key, const std::string& id,
                               const LeaseBook& known) {
  std::map<std::int64_t, std::string> ran;  // on which worker
  if (const StudyBook* const book = Find(key)) {
    for (const auto& [number, trial] : book->open()) {
      if (trial.row.state != TrialState::kRunning) continue;
      ran.emplace(number, trial.row.worker);
      workers_.Release(trial.row.worker, {key, number});
    }
  }
  studies_.erase(key);
  std::erase_if(key_of_study_,
                [key](const auto& entry) { return entry.second == key; });
  std::erase_if(fresh_attempts_, [key](const auto& entry) {
    return std::get<0>(entry.first) == key;
  });
  unsettled_.erase(key);
  // What was said of its trials is said again.
  blame_.ForgetStudy(key);
  const absl::StatusOr<storage::StudyRow> row = store_.FindStudy(id);
  const bool is_new = HasErrorId(row.status(), ErrorId::kStudyNotFound);
  if (!is_new) RETURN_IF_ERROR(row.status());
  if (!is_new && row->key == key) {
    ASSIGN_OR_RETURN(const std::vector<storage::SummaryRow> stored,
                     store_.ListSummaries(key - 1, 1));
    Summaries summaries;
    for (const storage::SummaryRow& one : stored) summaries[one.study] = one;
    RETURN_IF_ERROR(LoadStudy(*row, summaries, known, Duration::zero()));
  }
  const StudyBook* const now = Find(key);
  for (const auto& [number, worker] : ran) {
    running_.ForgetSteps({key, number});
    const OpenTrial* const trial = now == nullptr ? nullptr : now->Find(number);
    const bool runs =
        trial != nullptr && trial->row.state == TrialState::kRunning;
    if (runs) continue;
    running_.Forget({key, number});
    progress_.Remove({key, number});
  }
  return absl::OkStatus();
}

// A fleet may come back after an outage of any length, so a restart gives
// leases time anew. But where coordinators come and go, each start of one that
// did not hear the worker halves the grace, and the lease itself is over when
// its time has passed since the first of them: nobody has renewed it then.
//
//   60 s of life and 120 s of grace, a start each minute: 180 s, of which 60
//   pass, then 60 + 60 s, of which 60 pass, then 30 s: lost after 150 s
//
// Renewals of the last life may be unknown, if it ended while the store was
// full: so only from the second silent start on the lease may be shorter.
Duration Ledger::AllowanceOf(const StudyBook& book,
                             const storage::TrialRow& trial,
                             Duration grace) const {
  const Duration ttl = book.checked().lease.ttl;
  if (grace == Duration::zero()) return ttl;
  WallMicros heard = trial.started;
  const auto worker = workers_.all().find(trial.worker);
  if (worker != workers_.all().end()) {
    heard = std::max(heard, worker->second.row.last_seen);
  }
  WallMicros first_silent = clock_.Wall();
  std::int64_t silent = 0;
  for (const WallMicros start : starts_) {
    if (start <= heard) continue;
    ++silent;
    first_silent = std::min(first_silent, start);
  }
  constexpr std::int64_t kMostHalvings = 30;
  const Duration left_of_grace =
      grace / (std::int64_t{1} << std::min(silent, kMostHalvings));
  if (silent <= 1) return ttl + left_of_grace;
  const Duration passed =
      std::chrono::microseconds(clock_.Wall() - first_silent);
  return std::clamp<Duration>(ttl - passed, Duration::zero(), ttl) +
         left_of_grace;
}

// An answer that renews a lease is given once this is on disk.
void Ledger::WriteDownRenewed(Batch& batch) {
  if (!batch.MayWrite()) return;
  for (const std::string& id : std::exchange(renewed_unheard_, {})) {
    WorkerEntry* const entry = workers_.Find(id);
    if (entry == nullptr || !PutWorker(batch, *entry, entry->row).ok()) {
      continue;
    }
    written_down_.insert(unheard_.extract(id));
  }
}

void Ledger::WriteDownHeard(Batch& batch) {
  if (!batch.MayWrite()) return;
  for (auto unheard = unheard_.begin(); unheard != unheard_.end();) {
    WorkerEntry* const entry = workers_.Find(unheard->first);
    const bool gone = entry == nullptr;
    if (!gone && entry->row.last_seen <= unheard->second) {
      ++unheard;
      continue;
    }
    if (!gone && !PutWorker(batch, *entry, entry->row).ok()) return;
    written_down_.insert(unheard_.extract(unheard++));
  }
}

}  // namespace frostline::server
