// SPDX-License-Identifier: Apache-2.0
//
// File: ledger.h
//
// All that the coordinator knows, and the few ways in which it changes. A
// change is written into the group's transaction first and taken into memory
// then; when the group cannot be committed, memory is loaded anew.
//
//   ASSIGN_OR_RETURN(StudyBook * book, ledger.FindStudy("studies/a"));
//   RETURN_IF_ERROR(ledger.Apply(batch, *book, Cancel(trial, …)));
//
// The commit loop's thread owns it. Nothing here reads the store but Load():
// what memory lacks comes with the call (stored_rows.h). What is known of a
// trial only while it runs is made and forgotten here and nowhere else.
#ifndef FROSTLINE_SERVER_LEDGER_LEDGER_H_
#define FROSTLINE_SERVER_LEDGER_LEDGER_H_

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "server/ledger/lookups.h"
#include "server/ledger/reply_book.h"
#include "server/ledger/running_trials.h"
#include "server/ledger/stored_rows.h"
#include "server/ledger/study_book.h"
#include "server/ledger/worker_book.h"
#include "server/loop/commit_loop.h"
#include "server/wire/study_handle.h"

namespace frostline::server {

// A trial by name, open or ended.
struct NamedTrial {
  StudyBook* book = nullptr;
  OpenTrial trial;
};

// The trial that a lease names, open or ended.
struct LeasedTrial {
  StudyBook* book = nullptr;
  OpenTrial trial;
  LeaseProof proof;
  std::optional<storage::AttemptRow> claimed;  // when not the newest attempt
};

class Ledger {
 public:
  // Told of what has changed, on the loop and in the order of changes.
  struct Hooks {
    std::function<void(const storage::TrialRow&)> trial_ended;
  };

  Ledger(storage::TrialStore& store, const Clock& clock,
         LeaseRules default_lease, Hooks hooks);

  // ledger_load.cc: memory from the store, at the start and after a group that
  // could not be written; `grace` is added to leases that were not known.
  struct Loading {
    std::function<absl::Status(const StudyBook&, const storage::TrialRow&)>
        trial;
    std::function<absl::Status(const StudyBook&)> study;
  };
  absl::Status Load(Duration grace, const Loading& loading);
  void Committed();

  // --- studies ---
  absl::StatusOr<StudyBook*> FindStudy(const std::string& name);
  StudyBook* Find(storage::StudyKey study);  // null: unknown or deleted
  bool HasId(const std::string& id) const { return key_of_study_.contains(id); }
  std::map<storage::StudyKey, StudyBook>& studies() { return studies_; }
  const std::map<storage::StudyKey, StudyBook>& studies() const {
    return studies_;
  }
  const LeaseRules& default_lease() const { return default_lease_; }

  absl::StatusOr<StudyBook*> InsertStudy(
      Batch& batch, storage::StudyRow row,
      std::shared_ptr<const CheckedStudy> checked);
  absl::Status PutStudy(Batch& batch, StudyBook& book, storage::StudyRow row);
  absl::Status SetState(Batch& batch, StudyBook& book,
                        storage::StudyState state, const std::string& reason);
  void CompleteIfDone(Batch& batch, StudyBook& book);
  // It has been written as deleted.
  void ForgetStudy(StudyBook& book);
  // Whether a study has ended since this was last asked.
  bool TakeSomeStudyEnded() { return std::exchange(some_study_ended_, false); }
  // Since the last commit, or to be looked at after the next.
  const std::set<storage::StudyKey>& changed() const { return changed_; }
  void MarkChanged(storage::StudyKey study) { changed_.insert(study); }

  // --- trials ---
  // What is not in memory is asked of `rows`.
  absl::StatusOr<NamedTrial> FindTrial(const std::string& name,
                                       StoredRows& rows);
  absl::Status InsertTrial(
      Batch& batch, StudyBook& book, storage::TrialRow row,
      const std::optional<storage::AttemptRow>& before = {});
  using More = absl::FunctionRef<absl::Status(storage::Transaction&)>;
  // Writes a transition, and `more` in the same operation.
  absl::Status Apply(
      Batch& batch, StudyBook& book, Transition transition,
      More more = [](storage::Transaction&) { return absl::OkStatus(); });
  // An ended trial's labels.
  absl::Status PutEnded(Batch& batch, StudyBook& book, storage::TrialRow row);

  // --- leases ---
  absl::StatusOr<LeasedTrial> FindLeased(const v1::LeaseRef& lease,
                                         StoredRows& rows);
  // The same; a lost attempt whose trial nobody took yet is reinstated.
  absl::StatusOr<LeasedTrial> FindHeld(Batch& batch, const v1::LeaseRef& lease,
                                       StoredRows& rows);
  void RenewLease(const StudyBook& book, std::int64_t number);
  // The attempt, if it runs still, is told to stop with every answer.
  void WantPruned(TrialKey trial, std::int64_t attempt,
                  const std::string& reason);
  RunningTrials& running() { return running_; }
  const RunningTrials& running() const { return running_; }

  // --- workers ---
  WorkerBook& workers() { return workers_; }
  const WorkerBook& workers() const { return workers_; }
  // Takes a worker that fails trial after trial out of service.
  void JudgeWorker(Batch& batch, const std::string& worker, bool failed);

  // --- answers ---
  ReplyBook& replies() { return replies_; }
  // What is being read of the store; any thread.
  Lookups& reply_lookups() { return reply_lookups_; }
  Lookups& row_lookups() { return row_lookups_; }

 private:
  void NoteRun(const storage::TrialRow& row);
  void ForgetRun(const std::string& worker, TrialKey trial);
  void AfterChange(Batch& batch, StudyBook& book, const storage::TrialRow& row);
  absl::Status LoadStudy(const storage::StudyRow& row, const LeaseBook& known,
                         Duration grace, const Loading& loading);
  const storage::AttemptRow& Freshest(const storage::AttemptRow& stored) const;

  storage::TrialStore& store_;
  const Clock& clock_;
  const LeaseRules default_lease_;
  const Hooks hooks_;
  std::map<storage::StudyKey, StudyBook> studies_;
  std::map<std::string, storage::StudyKey> key_of_study_;
  RunningTrials running_;
  WorkerBook workers_;
  Lookups reply_lookups_;
  Lookups row_lookups_;
  ReplyBook replies_;
  // Not readable yet for all that look: attempts, and studies with ended
  // trials.
  std::map<std::tuple<storage::StudyKey, std::int64_t, std::int64_t>,
           storage::AttemptRow>
      fresh_attempts_;
  std::set<storage::StudyKey> unsettled_;
  std::set<storage::StudyKey> changed_;
  bool some_study_ended_ = false;
};

StudyHandle HandleOf(const StudyBook& book);
// STUDY_NOT_ACTIVE unless trials may be added to the study.
absl::Status RequireOpen(const StudyBook& book);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LEDGER_LEDGER_H_
