// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/ledger.h"

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/status_macros.h"

namespace frostline::server {
namespace {

// Failures in a row after which a worker is taken out of service. More than one
// bad trial can cause (3 attempts), so that a bad point does not cost workers.
constexpr int kQuarantineAfter = 8;

}  // namespace

StudyHandle HandleOf(const StudyBook& book) {
  return {.key = book.row().key,
          .id = book.row().id,
          .revision = book.revision(),
          .state = book.row().state,
          .running = IsOpen(book.row().state),
          .budget_left =
              book.checked().settings.budget().trials() - book.BudgetTaken(),
          .checked = book.shared_checked()};
}

absl::Status RequireOpen(const StudyBook& book) {
  if (IsOpen(book.row().state)) return absl::OkStatus();
  return MakeError(
      ErrorId::kStudyNotActive,
      absl::StrCat("the study has ended: ", book.row().state_reason),
      "raise the budget of a completed study, or create another", "name");
}

Ledger::Ledger(storage::TrialStore& store, const Clock& clock,
               LeaseRules default_lease, Hooks hooks)
    : store_(store),
      clock_(clock),
      default_lease_(default_lease),
      hooks_(std::move(hooks)),
      replies_(reply_lookups_) {}

// A read that began before this commit may not see its rows: then they stay in
// memory until a commit finds no read under way.
void Ledger::Committed() {
  unsettled_.insert(changed_.begin(), changed_.end());
  changed_.clear();
  reply_lookups_.NextGroup();
  replies_.Committed();
  row_lookups_.NextGroup();
  if (row_lookups_.OldestGroup() < row_lookups_.group()) return;
  for (const storage::StudyKey key : std::exchange(unsettled_, {})) {
    if (StudyBook* const book = Find(key)) book->Committed();
  }
  fresh_attempts_.clear();
}

StudyBook* Ledger::Find(storage::StudyKey study) {
  const auto found = studies_.find(study);
  return found == studies_.end() ? nullptr : &found->second;
}

absl::StatusOr<StudyBook*> Ledger::FindStudy(const std::string& name) {
  ASSIGN_OR_RETURN(const std::string id, ParseStudyName(name));
  const auto key = key_of_study_.find(id);
  if (key == key_of_study_.end()) {
    return MakeError(ErrorId::kStudyNotFound,
                     absl::StrCat("there is no study ", id),
                     "see the list with `frostline study list`", "name");
  }
  return &studies_.at(key->second);
}

absl::StatusOr<StudyBook*> Ledger::InsertStudy(
    Batch& batch, storage::StudyRow row,
    std::shared_ptr<const CheckedStudy> checked) {
  RETURN_IF_ERROR(
      batch.Write([&row](storage::Transaction& transaction) -> absl::Status {
        ASSIGN_OR_RETURN(row.key, transaction.InsertStudy(row));
        return absl::OkStatus();
      }));
  key_of_study_[row.id] = row.key;
  changed_.insert(row.key);
  return &studies_.emplace(row.key, StudyBook(row, std::move(checked)))
              .first->second;
}

absl::Status Ledger::PutStudy(Batch& batch, StudyBook& book,
                              storage::StudyRow row) {
  const std::int64_t expected_etag = book.row().etag;
  row.updated = clock_.Wall();
  row.etag = expected_etag + 1;
  row.revision = book.revision() + 1;
  RETURN_IF_ERROR(batch.Write([&](storage::Transaction& transaction) {
    return transaction.UpdateStudy(row, expected_etag);
  }));
  book.AbsorbStudy(row);
  changed_.insert(row.key);
  some_study_ended_ = some_study_ended_ || !IsOpen(row.state);
  return absl::OkStatus();
}

absl::Status Ledger::SetState(Batch& batch, StudyBook& book,
                              storage::StudyState state,
                              const std::string& reason) {
  storage::StudyRow row = book.row();
  row.state = state;
  row.state_reason = reason;
  return PutStudy(batch, book, std::move(row));
}

void Ledger::CompleteIfDone(Batch& batch, StudyBook& book) {
  const std::string reason = book.ReasonToComplete(clock_.Wall());
  if (reason.empty()) return;
  // A failure is the store's own, and the group's: everybody in it is told.
  (void)SetState(batch, book, storage::StudyState::kCompleted, reason);
}

void Ledger::ForgetStudy(StudyBook& book) {
  const storage::StudyKey key = book.row().key;
  for (const auto& [number, trial] : book.open()) {
    ForgetRun(trial.row.worker, {key, number});
  }
  key_of_study_.erase(book.row().id);
  studies_.erase(key);
}

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
  book.AbsorbEnded(row);
  changed_.insert(row.study);
  return absl::OkStatus();
}

void Ledger::JudgeWorker(Batch& batch, const std::string& worker, bool failed) {
  WorkerEntry* const entry = workers_.Find(worker);
  if (entry == nullptr) return;
  const int failures = failed ? entry->row.failures_in_a_row + 1 : 0;
  if (failures == entry->row.failures_in_a_row) return;
  storage::WorkerRow row = entry->row;
  row.failures_in_a_row = failures;
  if (failures >= kQuarantineAfter &&
      row.state == storage::WorkerState::kActive) {
    row.state = storage::WorkerState::kQuarantined;
    Log(LogLevel::kWarning, "worker_quarantined",
        {{"worker", worker}, {"failures", absl::StrCat(failures)}});
  }
  const absl::Status written =
      batch.Write([&row](storage::Transaction& transaction) {
        return transaction.PutWorker(row);
      });
  if (written.ok()) entry->row = row;
}

}  // namespace frostline::server
