// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/ledger.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/ids.h"
#include "base/log.h"
#include "server/wire/spec.h"
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
  std::string after_worker;
  while (true) {
    ASSIGN_OR_RETURN(const std::vector<storage::WorkerRow> page,
                     store_.ListWorkers(after_worker, storage::kScanPage));
    for (const storage::WorkerRow& row : page) {
      workers_.Absorb(row).unheard_since = row.last_seen;
      // The reason is forgotten, so that another chance comes soon.
      if (row.state == storage::WorkerState::kQuarantined) {
        blame_.NoteQuarantined(row.id, clock_.Steady());
      }
    }
    if (page.size() < storage::kScanPage) break;
    after_worker = page.back().id;
  }
  const LeaseBook known =
      LeasesBefore(std::exchange(journal_, {}).TakeBefore());
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
  unsummarised_.insert(changed().begin(), changed().end());
  if (!batch.MayWrite()) return;
  for (const storage::StudyKey key : std::exchange(unsummarised_, {})) {
    StudyBook* const book = Find(key);
    if (book == nullptr) continue;
    const std::optional<StudyBook::Ended> ended = book->TakeEnded();
    if (!ended.has_value()) continue;
    // A failure here is the store's, and the group is undone: the study is
    // loaded and counted again.
    journal_.NoteStudy(book->row());
    (void)batch.Write([&](storage::Transaction& transaction) -> absl::Status {
      for (const storage::BestRow& best : ended->best) {
        RETURN_IF_ERROR(transaction.PutBest(best));
      }
      return transaction.PutSummary(ended->summary);
    });
  }
}

// Forgets rows that every read of the store can see. A read that began before
// this commit may not see its rows: then they stay in memory until a commit
// finds no read under way.
void Ledger::Committed() {
  tally_.Committed();
  journal_.Committed();
  reply_lookups_.NextGroup();
  replies_.Committed();
  row_lookups_.NextGroup();
  if (row_lookups_.OldestGroup() < row_lookups_.group()) return;
  for (const storage::StudyKey key : journal_.TakeSeen()) {
    if (StudyBook* const book = Find(key)) book->Committed();
  }
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
  RETURN_IF_ERROR(journal_.WriteStudy(
      batch, row, [&row](storage::Transaction& transaction) -> absl::Status {
        ASSIGN_OR_RETURN(row.key, transaction.InsertStudy(row));
        return absl::OkStatus();
      }));
  key_of_study_[row.id] = row.key;
  MarkChanged(row.key);
  return &studies_.emplace(row.key, StudyBook(row, std::move(checked)))
              .first->second;
}

absl::Status Ledger::PutStudy(Batch& batch, StudyBook& book,
                              storage::StudyRow row) {
  const std::int64_t expected_etag = book.row().etag;
  row.updated = clock_.Wall();
  row.etag = expected_etag + 1;
  row.revision = book.revision() + 1;
  RETURN_IF_ERROR(
      journal_.WriteStudy(batch, row, [&](storage::Transaction& transaction) {
        return transaction.UpdateStudy(row, expected_etag);
      }));
  const bool resumed = row.state == storage::StudyState::kActive &&
                       book.row().state != storage::StudyState::kActive;
  const bool ended = IsOpen(book.row().state) && !IsOpen(row.state);
  book.AbsorbStudy(row);
  MarkChanged(row.key);
  if (ended && hooks_.study_ended) hooks_.study_ended(book);
  some_study_ended_ = some_study_ended_ || !IsOpen(row.state);
  // Whoever resumes a study has repaired something, so all counts begin again.
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
  // A failure here is the store's: everybody in the group is told.
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

// How a study is loaded: what is open from its rows, what has ended from its
// summary.

namespace {

absl::Status FillBook(const storage::TrialStore& store,
                      const storage::SummaryRow* summary, StudyBook& book) {
  const storage::StudyKey study = book.row().key;
  storage::TrialQuery query{.study = study};
  if (summary != nullptr) {
    query.states = {TrialState::kQueued, TrialState::kRunning};
    std::vector<storage::BestRow> best;
    RETURN_IF_ERROR(storage::ForEachBest(store, study,
                                         [&best](const storage::BestRow& row) {
                                           best.push_back(row);
                                           return absl::OkStatus();
                                         }));
    book.AbsorbSummary(*summary, best);
  }
  // An older version wrote no summary: then all trials are read and counted.
  RETURN_IF_ERROR(storage::ForEachTrial(
      store, query, [&](const storage::TrialRow& trial) -> absl::Status {
        std::optional<storage::AttemptRow> newest;
        if (!IsTerminal(trial.state)) {
          ASSIGN_OR_RETURN(std::vector<storage::AttemptRow> attempts,
                           store.ListAttempts(study, trial.number));
          if (!attempts.empty()) newest = std::move(attempts.back());
        }
        book.Absorb(trial, newest);
        book.Committed();
        return absl::OkStatus();
      }));
  return absl::OkStatus();
}

// Says whether the trainer ended by itself, without a word of how the trial
// went.
bool IsCrash(const Result& result) {
  return result.failure == FailureClass::kTrial &&
         absl::StartsWith(
             result.cause,
             absl::StrCat(ErrorCode(ErrorId::kTrainerExited), ":"));
}

}  // namespace

// One study that this version cannot read must not keep the others from
// loading.
absl::Status Ledger::LoadStudy(const storage::StudyRow& row,
                               const Summaries& summaries,
                               const LeaseBook& known, Duration grace) {
  const auto cannot = [&](const absl::Status& why) FROSTLINE_ON_LOOP {
    Log(LogLevel::kError, "study_not_loaded",
        {{"study", row.id}, {"error", std::string(why.message())}});
    unreadable_[row.id] = {row.key, std::string(why.message())};
    return absl::OkStatus();
  };
  absl::StatusOr<CheckedStudy> stored = CheckStored(row, default_lease_);
  if (!stored.ok()) return cannot(stored.status());
  StudyBook book(row, std::make_shared<const CheckedStudy>(*std::move(stored)));
  const auto summary = summaries.find(row.key);
  const absl::Status filled = FillBook(
      store_, summary == summaries.end() ? nullptr : &summary->second, book);
  if (HasErrorId(filled, ErrorId::kStoreCorrupt)) return cannot(filled);
  RETURN_IF_ERROR(filled);
  for (const auto& [number, trial] : book.open()) {
    if (trial.row.state != TrialState::kRunning) continue;
    const TrialKey key{row.key, number};
    running_.LeaseUntil(
        key, known.Find(key).value_or(clock_.Steady() +
                                      AllowanceOf(book, trial.row, grace)));
    NoteRun(trial.row);
  }
  if (summary == summaries.end()) unsummarised_.insert(row.key);
  key_of_study_[row.id] = row.key;
  studies_.emplace(row.key, std::move(book));
  return absl::OkStatus();
}

// Trials: leases as workers name them, and the transitions that follow.

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
  RETURN_IF_ERROR(journal_.WriteStudy(
      batch, book.row(),
      [&](storage::Transaction& transaction) -> absl::Status {
        RETURN_IF_ERROR(transaction.InsertTrial(row));
        return before.has_value() ? transaction.PutAttempt(*before)
                                  : absl::OkStatus();
      }));
  book.Absorb(row, before);
  MarkChanged(row.study);
  return absl::OkStatus();
}

absl::Status Ledger::PutEnded(Batch& batch, StudyBook& book,
                              storage::TrialRow row) {
  row.revision = book.revision() + 1;
  RETURN_IF_ERROR(journal_.WriteStudy(
      batch, book.row(), [&row](storage::Transaction& transaction) {
        return transaction.UpdateTrial(row,
                                       {row.state, row.attempt, std::nullopt});
      }));
  book.AbsorbEnded(row);
  MarkChanged(row.study);
  return absl::OkStatus();
}

void Ledger::NoteRun(const storage::TrialRow& row) {
  workers_.Hold(row.worker, {row.study, row.number});
}

void Ledger::ForgetRun(const std::string& worker, TrialKey trial) {
  journal_.NoteLease(trial, running_.Forget(trial));
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
  // Reports renew too: a worker that is heard in this life is not silent in the
  // next.
  WorkerEntry* const worker = workers_.Find(trial->row.worker);
  if (worker == nullptr) return;
  worker->row.last_seen = std::max(worker->row.last_seen, clock_.Wall());
  if (worker->unheard_since.has_value()) {
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
    const storage::AttemptRow& attempt = journal_.Freshest(read);
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
  RETURN_IF_ERROR(journal_.WriteStudy(
      batch, book.row(),
      [&](storage::Transaction& transaction) -> absl::Status {
        if (transition.row.has_value()) {
          RETURN_IF_ERROR(
              transaction.UpdateTrial(*transition.row, transition.guard));
        }
        for (const storage::AttemptRow& attempt : transition.attempts) {
          RETURN_IF_ERROR(transaction.PutAttempt(attempt));
        }
        return more(transaction);
      }));
  tally_.Note(
      transition.row.has_value() ? book.Find(transition.row->number) : nullptr,
      transition);
  for (const storage::AttemptRow& attempt : transition.attempts) {
    journal_.NoteAttempt(attempt);
  }
  if (!transition.row.has_value()) return absl::OkStatus();
  TellAttemptEnded(book, transition);
  // A late result may end a trial that another worker runs now.
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
  MarkChanged(row.study);
  if (row.state == TrialState::kRunning) return NoteRun(row);
  ForgetRun(row.worker, {row.study, row.number});
  const bool stopped = book.row().state == storage::StudyState::kStopped;
  if (row.state == TrialState::kQueued && stopped) {
    // The trial was allowed to finish and did not: nobody will lease it again.
    auto cancel =
        Cancel(*book.Find(row.number), "study stopped", clock_.Wall());
    if (cancel.ok()) (void)Apply(batch, book, *std::move(cancel));
    return;
  }
  if (!IsTerminal(row.state)) return;
  hooks_.trial_ended(row);
  CompleteIfDone(batch, book);
}

// What the ledger does about runs that fail (blame.h).

absl::Status Ledger::PutWorker(Batch& batch, WorkerEntry& entry,
                               const storage::WorkerRow& row) {
  RETURN_IF_ERROR(WriteWorker(batch, row));
  entry.row = row;
  return absl::OkStatus();
}

absl::StatusOr<WorkerEntry*> Ledger::Register(Batch& batch,
                                              const storage::WorkerRow& row) {
  RETURN_IF_ERROR(WriteWorker(batch, row));
  return &workers_.Absorb(row);
}

absl::Status Ledger::WriteWorker(Batch& batch, const storage::WorkerRow& row) {
  return journal_.WriteWorker(batch, row.id, workers_.Find(row.id),
                              [&row](storage::Transaction& transaction) {
                                return transaction.PutWorker(row);
                              });
}

absl::Status Ledger::ForgetWorker(Batch& batch, const std::string& id) {
  RETURN_IF_ERROR(journal_.WriteWorker(
      batch, id, workers_.Find(id), [&id](storage::Transaction& transaction) {
        return transaction.ForgetWorker(id);
      }));
  blame_.ForgetWorker(id);
  workers_.Forget(id);
  loads_.Remove(id);
  if (hooks_.worker_gone) hooks_.worker_gone(id);
  return absl::OkStatus();
}

std::size_t Ledger::CountServing(const StudyBook& book) const {
  const CheckedStudy& study = book.checked();
  std::size_t serving = 0;
  for (const auto& [id, worker] : workers_.all()) {
    const bool serves =
        worker.row.state == storage::WorkerState::kActive &&
        !IsGone(worker, clock_.Wall(), default_lease().ttl) &&
        CarriesLabels(worker.info, study.settings.required_worker_labels()) &&
        WhatLacks(worker.stock, study.spec).empty();
    if (serves) ++serving;
  }
  return serving;
}

void Ledger::JudgeRun(Batch& batch, StudyBook& book,
                      const storage::TrialRow& trial, const std::string& worker,
                      const Result& result) {
  if (result.kind == Result::Kind::kCancelled) return;  // says nothing
  const bool failed = result.kind == Result::Kind::kFailed;
  const storage::StudyKey study = book.row().key;
  BlameVerdict verdict;
  if (failed) {
    FailedRun run{worker, {study, trial.number}, result.cause};
    if (IsCrash(result)) {
      run.crashed_at = HashPoint(trial.point);
      run.serving = CountServing(book);
    }
    verdict = blame_.NoteFailure(run, clock_.Steady());
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
    // A failure here is the store's: everybody in the group is told.
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

// What happens to memory when a group was not committed, and to leases while no
// coordinator was running.

std::set<storage::StudyKey> Ledger::Touched() const {
  std::set<storage::StudyKey> keys;
  for (const auto& [key, id] : journal_.before().studies) keys.insert(key);
  return keys;
}

absl::Status Ledger::Undo() {
  tally_.Undone();
  replies_.Undone();
  const Journal::Before before = journal_.TakeBefore();
  UndoWorkers(before);
  const LeaseBook known = LeasesBefore(before);
  for (const auto& [key, id] : before.studies) {
    RETURN_IF_ERROR(UndoStudy(key, id, known));
  }
  return absl::OkStatus();
}

// A failed write makes a lease neither shorter nor longer: one whose loss could
// not be written is due again at once.
LeaseBook Ledger::LeasesBefore(const Journal::Before& before) const {
  LeaseBook leases = running_.leases();
  for (const auto& [trial, end] : before.leases) leases.Set(trial, end);
  return leases;
}

void Ledger::UndoWorkers(const Journal::Before& before) {
  for (const auto& [id, worker] : before.workers) {
    if (!worker.has_value()) {
      workers_.Forget(id);
      continue;
    }
    storage::WorkerRow row = worker->row;
    if (const WorkerEntry* const now = workers_.Find(id)) {
      // The worker was heard, whatever became of what it said.
      row.last_seen = std::max(row.last_seen, now->row.last_seen);
    }
    WorkerEntry& entry = workers_.Absorb(row);
    entry.unheard_since = worker->unheard_since;
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
  journal_.ForgetStudy(key);
  // What was told about its trials will be told again.
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

// Returns how long a lease goes on after a restart. An outage may have any
// length, so a restart gives a lease its whole time (ttl) again, and the grace.
// But when coordinators come and go, each earlier start of one that did not
// hear the worker halves the grace. From the second such start on, the lease's
// own time counts from the first of them, since nobody has renewed the lease
// since then.
//
//   60 s of life, 120 s of grace, and a start each minute: the first start
//   gives 60 + 120 s, the second 60 + 60 s, the third 0 + 30 s. So the lease is
//   lost 150 s after the first start.
//
// One such start takes nothing from the lease's own time: if that coordinator
// ended while the store was full, its renewals are not known.
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

absl::Status Ledger::WriteHeard(Batch& batch, WorkerEntry& entry) {
  RETURN_IF_ERROR(PutWorker(batch, entry, entry.row));
  entry.unheard_since.reset();
  return absl::OkStatus();
}

// An answer that renews a lease is given once this is on disk.
void Ledger::WriteDownRenewed(Batch& batch) {
  if (!batch.MayWrite()) return;
  for (const std::string& id : std::exchange(renewed_unheard_, {})) {
    WorkerEntry* const entry = workers_.Find(id);
    if (entry != nullptr) (void)WriteHeard(batch, *entry);
  }
}

void Ledger::WriteDownHeard(Batch& batch) {
  if (!batch.MayWrite()) return;
  for (auto& [id, entry] : workers_.all()) {
    const bool is_news = entry.unheard_since.has_value() &&
                         entry.row.last_seen > *entry.unheard_since;
    if (is_news && !WriteHeard(batch, entry).ok()) return;
  }
}

}  // namespace frostline::server
