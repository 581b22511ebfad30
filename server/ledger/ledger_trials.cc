// SPDX-License-Identifier: Apache-2.0
//
// Trials of the ledger: leases as workers name them, and the transitions that
// follow.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/log.h"
#include "server/ledger/ledger.h"

namespace frostline::server {

absl::StatusOr<NamedTrial> Ledger::FindTrial(const std::string& name,
                                             StoredRows& rows) {
  ASSIGN_OR_RETURN(const TrialName parsed, ParseTrialName(name));
  NamedTrial named;
  ASSIGN_OR_RETURN(named.book, FindStudy(StudyNameOf(parsed.study_id)));
  if (const OpenTrial* const found = named.book->Find(parsed.number)) {
    named.trial = *found;
    return named;
  }
  const TrialAsStored* const stored =
      rows.Trial({named.book->row().key, parsed.number});
  if (stored == nullptr) return absl::UnavailableError("read first");
  RETURN_IF_ERROR(stored->status);
  named.trial.row = stored->row;
  return named;
}

absl::Status Ledger::InsertTrial(
    Batch& batch, StudyBook& book, storage::TrialRow row,
    const std::optional<storage::AttemptRow>& before) {
  row.study = book.row().key;
  row.created = clock_.Wall();
  row.revision = book.revision() + 1;
  RETURN_IF_ERROR(
      batch.Write([&](storage::Transaction& transaction) -> absl::Status {
        RETURN_IF_ERROR(transaction.InsertTrial(row));
        return before.has_value() ? transaction.PutAttempt(*before)
                                  : absl::OkStatus();
      }));
  Touch(book);
  book.Absorb(row, before);
  changed_.insert(row.study);
  return absl::OkStatus();
}

absl::Status Ledger::PutEnded(Batch& batch, StudyBook& book,
                              storage::TrialRow row) {
  row.revision = book.revision() + 1;
  RETURN_IF_ERROR(batch.Write([&row](storage::Transaction& transaction) {
    return transaction.UpdateTrial(row, {row.state, row.attempt, std::nullopt});
  }));
  Touch(book);
  book.AbsorbEnded(row);
  changed_.insert(row.study);
  return absl::OkStatus();
}

void Ledger::NoteRun(const storage::TrialRow& row) {
  workers_.Hold(row.worker, {row.study, row.number});
}

void Ledger::ForgetRun(const std::string& worker, TrialKey trial) {
  const std::optional<SteadyTime> end = running_.leases().Find(trial);
  if (end.has_value()) leases_before_.emplace(trial, *end);
  running_.Forget(trial);
  progress_.Remove(trial);
  workers_.Release(worker, trial);
  blame_.NoteStopped(worker, trial, clock_.Steady());
  if (hooks_.run_over) hooks_.run_over(trial);
}

void Ledger::RenewLease(const StudyBook& book, std::int64_t number) {
  running_.LeaseUntil({book.row().key, number},
                      clock_.Steady() + book.checked().lease.ttl);
  const OpenTrial* const trial = book.Find(number);
  if (trial == nullptr) return;
  // Reports renew, too: who is heard in this life is not silent in the next.
  WorkerEntry* const worker = workers_.Find(trial->row.worker);
  if (worker != nullptr) {
    worker->row.last_seen = std::max(worker->row.last_seen, clock_.Wall());
  }
  if (unheard_.contains(trial->row.worker)) {
    renewed_unheard_.insert(trial->row.worker);
  }
}

void Ledger::WantPruned(TrialKey trial, std::int64_t attempt,
                        const std::string& reason) {
  const StudyBook* const book = Find(trial.study);
  const OpenTrial* const open =
      book == nullptr ? nullptr : book->Find(trial.number);
  const bool runs = open != nullptr && open->row.attempt == attempt &&
                    open->row.state == TrialState::kRunning;
  if (runs) running_.WantPruned(trial, attempt, reason);
}

// What this group wrote, or one that some reader cannot see yet.
const storage::AttemptRow& Ledger::Freshest(
    const storage::AttemptRow& stored) const {
  const auto fresh =
      fresh_attempts_.find({stored.study, stored.number, stored.attempt});
  return fresh == fresh_attempts_.end() ? stored : fresh->second;
}

absl::StatusOr<LeasedTrial> Ledger::FindLeased(const v1::LeaseRef& lease,
                                               StoredRows& rows) {
  LeasedTrial leased;
  ASSIGN_OR_RETURN(const TrialName name, ParseTrialName(lease.trial()));
  ASSIGN_OR_RETURN(leased.book, FindStudy(StudyNameOf(name.study_id)));
  leased.proof = {lease.attempt(), AsStored(SecretString(lease.secret()))};
  const OpenTrial* const found = leased.book->Find(name.number);
  if (found != nullptr) {
    leased.trial = *found;
    if (lease.attempt() == found->row.attempt) return leased;
  }
  const TrialAsStored* const stored =
      rows.Trial({leased.book->row().key, name.number});
  if (stored == nullptr) return absl::UnavailableError("read first");
  // A trial of this very group is not stored yet, and has no earlier attempt.
  if (found == nullptr ||
      !HasErrorId(stored->status, ErrorId::kTrialNotFound)) {
    RETURN_IF_ERROR(stored->status);
  }
  if (found == nullptr) leased.trial.row = stored->row;
  for (const storage::AttemptRow& read : stored->attempts) {
    const storage::AttemptRow& attempt = Freshest(read);
    const bool newest = attempt.attempt == leased.trial.row.attempt;
    if (newest && found == nullptr) leased.trial.attempt = attempt;
    if (!newest && attempt.attempt == lease.attempt()) leased.claimed = attempt;
  }
  return leased;
}

absl::StatusOr<LeasedTrial> Ledger::FindHeld(Batch& batch,
                                             const v1::LeaseRef& lease,
                                             StoredRows& rows) {
  ASSIGN_OR_RETURN(LeasedTrial leased, FindLeased(lease, rows));
  std::optional<Transition> again = Reinstate(leased.trial, leased.proof);
  if (!again.has_value()) return leased;
  RETURN_IF_ERROR(Apply(batch, *leased.book, *std::move(again)));
  RenewLease(*leased.book, leased.trial.row.number);
  return FindLeased(lease, rows);
}

absl::Status Ledger::Apply(Batch& batch, StudyBook& book, Transition transition,
                           More more) {
  if (transition.row.has_value()) {
    transition.row->revision = book.revision() + 1;
    if (IsTerminal(transition.row->state)) {
      transition.row->ended_revision = transition.row->revision;
    }
  }
  RETURN_IF_ERROR(
      batch.Write([&](storage::Transaction& transaction) -> absl::Status {
        if (transition.row.has_value()) {
          RETURN_IF_ERROR(
              transaction.UpdateTrial(*transition.row, transition.guard));
        }
        for (const storage::AttemptRow& attempt : transition.attempts) {
          RETURN_IF_ERROR(transaction.PutAttempt(attempt));
        }
        return more(transaction);
      }));
  Touch(book);
  tally_.Note(
      transition.row.has_value() ? book.Find(transition.row->number) : nullptr,
      transition);
  for (const storage::AttemptRow& attempt : transition.attempts) {
    fresh_attempts_[{attempt.study, attempt.number, attempt.attempt}] = attempt;
  }
  if (!transition.row.has_value()) return absl::OkStatus();
  TellAttemptEnded(book, transition);
  // A late result may end the trial under another worker's hands.
  if (const OpenTrial* const before = book.Find(transition.row->number)) {
    workers_.Release(before->row.worker,
                     {transition.row->study, transition.row->number});
  }
  std::optional<storage::AttemptRow> newest;
  for (storage::AttemptRow& attempt : transition.attempts) {
    if (attempt.attempt == transition.row->attempt) newest = std::move(attempt);
  }
  book.Absorb(*transition.row, newest);
  AfterChange(batch, book, *transition.row);
  return absl::OkStatus();
}

void Ledger::TellAttemptEnded(const StudyBook& book,
                              const Transition& transition) {
  const OpenTrial* const before = book.Find(transition.row->number);
  if (!hooks_.attempt_ended || before == nullptr ||
      before->row.state != TrialState::kRunning) {
    return;
  }
  for (const storage::AttemptRow& attempt : transition.attempts) {
    if (attempt.attempt == before->row.attempt &&
        attempt.state != AttemptState::kRunning) {
      hooks_.attempt_ended(*transition.row, attempt);
    }
  }
}

void Ledger::AfterChange(Batch& batch, StudyBook& book,
                         const storage::TrialRow& row) {
  changed_.insert(row.study);
  if (row.state == TrialState::kRunning) return NoteRun(row);
  ForgetRun(row.worker, {row.study, row.number});
  const bool stopped = book.row().state == storage::StudyState::kStopped;
  if (row.state == TrialState::kQueued && stopped) {
    // It was let finish and did not: nobody will lease it again.
    auto cancel =
        Cancel(*book.Find(row.number), "study stopped", clock_.Wall());
    if (cancel.ok()) (void)Apply(batch, book, *std::move(cancel));
    return;
  }
  if (!IsTerminal(row.state)) return;
  hooks_.trial_ended(row);
  CompleteIfDone(batch, book);
}

}  // namespace frostline::server
