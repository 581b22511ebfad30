// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/ledger.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/ids.h"
#include "base/log.h"
#include "server/wire/stored_study.h"
#include "storage/trial_store.h"

namespace frostline::server {
Ledger::Ledger(storage::TrialStore& store, const Clock& clock,
               LeaseRules default_lease, Hooks hooks)
    : store_(store),
      clock_(clock),
      default_lease_(default_lease),
      hooks_(std::move(hooks)),
      replies_(reply_lookups_) {}

absl::Status Ledger::Load(Duration grace) {
  FROSTLINE_FAILPOINT(kLoadBefore);
  if (!lease_secrets_.has_value()) {
    ASSIGN_OR_RETURN(SecretString key, store_.LeaseKey());
    lease_secrets_.emplace(std::move(key));
  }
  tally_.Undone();
  studies_.clear();
  key_of_study_.clear();
  unreadable_.clear();
  workers_.Clear();
  blame_ = Blame();
  replies_.Undone();
  fresh_attempts_.clear();
  unsettled_.clear();
  changed_.clear();
  touched_.clear();
  workers_before_.clear();
  std::string after_worker;
  while (true) {
    ASSIGN_OR_RETURN(const std::vector<storage::WorkerRow> page,
                     store_.ListWorkers(after_worker, storage::kScanPage));
    for (const storage::WorkerRow& row : page) {
      workers_.Absorb(row);
      unheard_.emplace(row.id, row.last_seen);
      // Why is forgotten, so that another chance comes soon.
      if (row.state == storage::WorkerState::kQuarantined) {
        blame_.NoteQuarantined(row.id, clock_.Steady());
      }
    }
    if (page.size() < storage::kScanPage) break;
    after_worker = page.back().id;
  }
  const LeaseBook known = LeasesBefore();
  running_ = RunningTrials();
  progress_.Clear();
  Summaries summaries;
  RETURN_IF_ERROR(storage::ForEachSummary(
      store_, [&summaries](const storage::SummaryRow& row) {
        summaries.emplace(row.study, row);
        return absl::OkStatus();
      }));
  RETURN_IF_ERROR(storage::ForEachStudy(
      store_, {}, [&](const storage::StudyRow& row) FROSTLINE_ON_LOOP {
        return LoadStudy(row, summaries, known, grace);
      }));
  FROSTLINE_FAILPOINT(kLoadAfter);
  return absl::OkStatus();
}

void Ledger::WriteSummaries(Batch& batch) {
  unsummarised_.insert(changed_.begin(), changed_.end());
  if (!batch.MayWrite()) return;
  for (const storage::StudyKey key : std::exchange(unsummarised_, {})) {
    StudyBook* const book = Find(key);
    if (book == nullptr) continue;
    const std::optional<StudyBook::Ended> ended = book->TakeEnded();
    if (!ended.has_value()) continue;
    Touch(*book);  // should the group be undone, it is counted again
    // A failure is the store's own, and the group's: memory is loaded anew.
    (void)batch.Write([&](storage::Transaction& transaction) -> absl::Status {
      for (const storage::BestRow& best : ended->best) {
        RETURN_IF_ERROR(transaction.PutBest(best));
      }
      return transaction.PutSummary(ended->summary);
    });
  }
}

// A read that began before this commit may not see its rows: then they stay in
// memory until a commit finds no read under way.
void Ledger::Committed() {
  tally_.Committed();
  unsettled_.insert(changed_.begin(), changed_.end());
  changed_.clear();
  touched_.clear();
  workers_before_.clear();
  leases_before_.clear();
  written_down_.clear();
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
  if (key == key_of_study_.end()) return WhyNoStudy(id);
  return &studies_.at(key->second);
}

absl::StatusOr<StudyBook*> Ledger::RequireStudy(storage::StudyKey study) {
  if (StudyBook* const book = Find(study)) return book;
  for (const auto& [id, unreadable] : unreadable_) {
    if (unreadable.study == study) return WhyNoStudy(id);
  }
  return WhyNoStudy(absl::StrCat("with key ", study));
}

absl::Status Ledger::WhyNoStudy(const std::string& id) const {
  const std::string why = WhyUnreadable(id);
  if (!why.empty()) {
    return MakeError(ErrorId::kStudyUnreadable,
                     absl::StrCat("study ", id, " cannot be loaded: ", why),
                     "start the version of Frostline that wrote it, or a newer "
                     "one; nothing of it is lost",
                     "name");
  }
  return MakeError(ErrorId::kStudyNotFound,
                   absl::StrCat("there is no study ", id),
                   "see the list with `frostline study list`", "name");
}

std::string Ledger::WhyUnreadable(const std::string& id) const {
  const auto found = unreadable_.find(id);
  return found == unreadable_.end() ? "" : found->second.why;
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
  StudyBook& book =
      studies_.emplace(row.key, StudyBook(row, std::move(checked)))
          .first->second;
  Touch(book);
  return &book;
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
  const bool resumed = row.state == storage::StudyState::kActive &&
                       book.row().state != storage::StudyState::kActive;
  const bool ended = IsOpen(book.row().state) && !IsOpen(row.state);
  Touch(book);
  book.AbsorbStudy(row);
  changed_.insert(row.key);
  if (ended && hooks_.study_ended) hooks_.study_ended(book);
  some_study_ended_ = some_study_ended_ || !IsOpen(row.state);
  // Whoever resumes a study has mended something: all begin anew.
  if (!IsOpen(row.state) || resumed) blame_.ForgetStudy(row.key);
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

}  // namespace frostline::server
