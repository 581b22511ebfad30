// SPDX-License-Identifier: Apache-2.0
//
// File: ledger.h
//
// How memory and store are kept the same. A change is written into the group's
// transaction first, then taken into memory. When the group cannot be
// committed, what it changed is loaded again. Only Load() and Undo() read the
// store.
#ifndef FROSTLINE_SERVER_LEDGER_LEDGER_H_
#define FROSTLINE_SERVER_LEDGER_LEDGER_H_

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "server/ledger/blame.h"
#include "server/ledger/journal.h"
#include "server/ledger/ledger_tally.h"
#include "server/ledger/load_history.h"
#include "server/ledger/stored_rows.h"
#include "server/ledger/study_book.h"
#include "server/ledger/worker_book.h"
#include "server/loop/commit_loop.h"

namespace frostline::server {

// A trial that is open or has ended.
struct NamedTrial {
  StudyBook* book = nullptr;
  OpenTrial trial;
};

// A trial as the holder of one of its leases names it.
struct LeasedTrial {
  StudyBook* book = nullptr;
  OpenTrial trial;
  LeaseProof proof;
  std::optional<storage::AttemptRow> claimed;  // if it is not the newest
};

// All studies, trials and workers in memory, and the ways to change them. The
// coordinator owns it. The loop's thread uses it; counts, progress and lookups
// may be used by any thread.
class Ledger {
 public:
  // What the ledger calls when something changes, in the order of changes.
  struct Hooks {
    std::function<void(const storage::TrialRow&)> trial_ended;
    // A worker no longer has the trial, for whatever reason.
    std::function<void(TrialKey)> run_over = nullptr;
    // The attempt that held the trial is over. The trial is as the attempt left
    // it.
    std::function<void(const storage::TrialRow&, const storage::AttemptRow&)>
        attempt_ended = nullptr;
    // An open study was completed, stopped or deleted.
    std::function<void(const StudyBook&)> study_ended = nullptr;
    std::function<void(const std::string& worker)> worker_gone = nullptr;
    // What the worker last said of itself was not stored; the entry is as
    // before.
    std::function<void(const WorkerEntry&)> worker_undone = nullptr;
  };

  Ledger(storage::TrialStore& store, const Clock& clock,
         LeaseRules default_lease, Hooks hooks);

  // Reads what is open, and the summaries of what has ended. It runs at the
  // start and after a group that could not be written. Leases that were not
  // known get `grace` on top.
  absl::Status Load(Duration grace) FROSTLINE_ON_LOOP;
  // REQUIRES: Load() was OK.
  const LeaseSecrets& lease_secrets() const FROSTLINE_ON_LOOP {
    return *lease_secrets_;
  }
  // Writes the summaries of studies in which trials have ended, in the same
  // group as these ends.
  void WriteSummaries(Batch& batch) FROSTLINE_ON_LOOP;
  void Committed() FROSTLINE_ON_LOOP;
  // Notes when earlier coordinators on this store started (AllowanceOf).
  void NoteStarts(std::vector<WallMicros> starts) FROSTLINE_ON_LOOP {
    starts_ = std::move(starts);
  }
  // Undoes in memory a group that was not committed. Workers, leases and
  // replies become as they were before. Each study that the group changed is
  // dropped and, if it is stored, loaded again.
  absl::Status Undo() FROSTLINE_ON_LOOP;
  // Returns the studies that Undo() would load.
  std::set<storage::StudyKey> Touched() const FROSTLINE_ON_LOOP;

  // --- studies ---
  absl::StatusOr<StudyBook*> FindStudy(const std::string& name)
      FROSTLINE_ON_LOOP;
  // Returns null when the study is unknown or deleted.
  StudyBook* Find(storage::StudyKey study) FROSTLINE_ON_LOOP;
  // The error is STUDY_NOT_FOUND or STUDY_UNREADABLE.
  absl::StatusOr<StudyBook*> RequireStudy(storage::StudyKey study)
      FROSTLINE_ON_LOOP;
  bool HasId(const std::string& id) const FROSTLINE_ON_LOOP {
    return key_of_study_.contains(id) || unreadable_.contains(id);
  }
  // Returns why this version cannot load the study, or "". The rows of such a
  // study stay, and it keeps its id.
  std::string WhyUnreadable(const std::string& id) const FROSTLINE_ON_LOOP;
  std::map<storage::StudyKey, StudyBook>& studies() FROSTLINE_ON_LOOP {
    return studies_;
  }
  const std::map<storage::StudyKey, StudyBook>& studies() const
      FROSTLINE_ON_LOOP {
    return studies_;
  }
  const LeaseRules& default_lease() const { return default_lease_; }

  absl::StatusOr<StudyBook*> InsertStudy(
      Batch& batch, storage::StudyRow row,
      std::shared_ptr<const CheckedStudy> checked) FROSTLINE_ON_LOOP;
  absl::Status PutStudy(Batch& batch, StudyBook& book,
                        storage::StudyRow row) FROSTLINE_ON_LOOP;
  absl::Status SetState(Batch& batch, StudyBook& book,
                        storage::StudyState state,
                        const std::string& reason) FROSTLINE_ON_LOOP;
  void CompleteIfDone(Batch& batch, StudyBook& book) FROSTLINE_ON_LOOP;
  void ForgetStudy(StudyBook& book) FROSTLINE_ON_LOOP;
  // Says whether a study has ended since the last call.
  bool TakeSomeStudyEnded() FROSTLINE_ON_LOOP {
    return std::exchange(some_study_ended_, false);
  }
  // Returns the studies that changed since the last commit, or that are to be
  // looked at after the next one.
  const std::set<storage::StudyKey>& changed() const FROSTLINE_ON_LOOP {
    return journal_.changed();
  }
  void MarkChanged(storage::StudyKey study) FROSTLINE_ON_LOOP {
    journal_.NoteChanged(study);
  }

  absl::StatusOr<NamedTrial> FindTrial(const std::string& name,
                                       StoredRows& rows) FROSTLINE_ON_LOOP;
  absl::Status InsertTrial(
      Batch& batch, StudyBook& book, storage::TrialRow row,
      const std::optional<storage::AttemptRow>& before = {}) FROSTLINE_ON_LOOP;
  using More = absl::FunctionRef<absl::Status(storage::Transaction&)>;
  // Applies the transition, and writes `more` in the same operation.
  absl::Status Apply(
      Batch& batch, StudyBook& book, Transition transition,
      More more = [](storage::Transaction&) {
        return absl::OkStatus();
      }) FROSTLINE_ON_LOOP;
  // Writes the changed labels of a trial that has ended.
  absl::Status PutEnded(Batch& batch, StudyBook& book,
                        storage::TrialRow row) FROSTLINE_ON_LOOP;

  // --- leases ---
  absl::StatusOr<LeasedTrial> FindLeased(const v1::LeaseRef& lease,
                                         StoredRows& rows) FROSTLINE_ON_LOOP;
  // Does the same, and reinstates a lost attempt whose trial nobody has taken
  // yet.
  absl::StatusOr<LeasedTrial> FindHeld(Batch& batch, const v1::LeaseRef& lease,
                                       StoredRows& rows) FROSTLINE_ON_LOOP;
  void RenewLease(const StudyBook& book, std::int64_t number) FROSTLINE_ON_LOOP;
  // Asks the attempt to stop early; every answer to it says so while it runs.
  void WantPruned(TrialKey trial, std::int64_t attempt,
                  const std::string& reason) FROSTLINE_ON_LOOP;
  RunningTrials& running() FROSTLINE_ON_LOOP { return running_; }
  const RunningTrials& running() const FROSTLINE_ON_LOOP { return running_; }
  // Any thread may look. A run's entry is removed when the run ends.
  ProgressBoard& progress() { return progress_; }
  // Likewise; a worker's entry is removed when it is forgotten.
  LoadBoard& loads() { return loads_; }

  // --- workers ---
  WorkerBook& workers() FROSTLINE_ON_LOOP { return workers_; }
  const WorkerBook& workers() const FROSTLINE_ON_LOOP { return workers_; }
  // Writes the row, then takes it into memory.
  absl::Status PutWorker(Batch& batch, WorkerEntry& entry,
                         const storage::WorkerRow& row) FROSTLINE_ON_LOOP;
  // Does the same for a worker that may be new.
  absl::StatusOr<WorkerEntry*> Register(
      Batch& batch, const storage::WorkerRow& row) FROSTLINE_ON_LOOP;
  // Writes that a worker was heard again which this coordinator found in the
  // store. It does so once for each such worker.
  void WriteDownHeard(Batch& batch) FROSTLINE_ON_LOOP;
  // Does the same at once for workers whose lease this group renews.
  void WriteDownRenewed(Batch& batch) FROSTLINE_ON_LOOP;
  absl::Status ForgetWorker(Batch& batch,
                            const std::string& id) FROSTLINE_ON_LOOP;
  // Acts on what blame.h decides about an attempt's end: keeps the worker from
  // the study, takes it out of service, or pauses the study.
  void JudgeRun(Batch& batch, StudyBook& book, const storage::TrialRow& trial,
                const std::string& worker,
                const Result& result) FROSTLINE_ON_LOOP;
  // Counts the live workers in service that have what the study asks for.
  std::size_t CountServing(const StudyBook& book) const FROSTLINE_ON_LOOP;
  // Returns the workers that are in service again after a pause.
  std::vector<std::string> TakeBackWorkers(Batch& batch) FROSTLINE_ON_LOOP;
  Blame& blame() FROSTLINE_ON_LOOP { return blame_; }
  const Blame& blame() const FROSTLINE_ON_LOOP { return blame_; }

  // --- counts ---
  // Notes that the lease which Apply() ends had no heartbeat in time.
  void NoteExpired() FROSTLINE_ON_LOOP { tally_.NoteExpired(); }
  std::size_t unreadable() const FROSTLINE_ON_LOOP {
    return unreadable_.size();
  }
  // Any thread may read.
  const LedgerCounts& counts() const { return counts_; }

  // --- answers ---
  ReplyBook& replies() FROSTLINE_ON_LOOP { return replies_; }
  // Any thread may call.
  Lookups& reply_lookups() { return reply_lookups_; }
  Lookups& row_lookups() { return row_lookups_; }

 private:
  void NoteRun(const storage::TrialRow& row) FROSTLINE_ON_LOOP;
  void TellAttemptEnded(const StudyBook& book,
                        const Transition& transition) FROSTLINE_ON_LOOP;
  void ForgetRun(const std::string& worker, TrialKey trial) FROSTLINE_ON_LOOP;
  void AfterChange(Batch& batch, StudyBook& book,
                   const storage::TrialRow& row) FROSTLINE_ON_LOOP;
  absl::Status WhyNoStudy(const std::string& id) const FROSTLINE_ON_LOOP;
  using Summaries = std::map<storage::StudyKey, storage::SummaryRow>;
  absl::Status LoadStudy(const storage::StudyRow& row,
                         const Summaries& summaries, const LeaseBook& known,
                         Duration grace) FROSTLINE_ON_LOOP;
  void UndoWorkers(const Journal::Before& before) FROSTLINE_ON_LOOP;
  // Returns the leases that run, together with those that the group ended.
  LeaseBook LeasesBefore(const Journal::Before& before) const FROSTLINE_ON_LOOP;
  absl::Status UndoStudy(storage::StudyKey key, const std::string& id,
                         const LeaseBook& known) FROSTLINE_ON_LOOP;
  Duration AllowanceOf(const StudyBook& book, const storage::TrialRow& trial,
                       Duration grace) const FROSTLINE_ON_LOOP;
  absl::Status WriteWorker(Batch& batch,
                           const storage::WorkerRow& row) FROSTLINE_ON_LOOP;
  absl::Status WriteHeard(Batch& batch, WorkerEntry& entry) FROSTLINE_ON_LOOP;

  storage::TrialStore& store_;
  const Clock& clock_;
  const LeaseRules default_lease_;
  const Hooks hooks_;
  std::map<storage::StudyKey, StudyBook> studies_ ABSL_GUARDED_BY(kLoopThread);
  std::map<std::string, storage::StudyKey> key_of_study_
      ABSL_GUARDED_BY(kLoopThread);
  struct Unreadable {
    storage::StudyKey study = 0;
    std::string why;
  };
  std::map<std::string, Unreadable> unreadable_
      ABSL_GUARDED_BY(kLoopThread);  // by id
  RunningTrials running_ ABSL_GUARDED_BY(kLoopThread);
  std::optional<LeaseSecrets> lease_secrets_ ABSL_GUARDED_BY(kLoopThread);
  WorkerBook workers_ ABSL_GUARDED_BY(kLoopThread);
  Blame blame_ ABSL_GUARDED_BY(kLoopThread);
  LedgerCounts counts_;
  LedgerTally tally_ ABSL_GUARDED_BY(kLoopThread){counts_};
  ProgressBoard progress_;
  LoadBoard loads_;
  Lookups reply_lookups_;
  Lookups row_lookups_;
  ReplyBook replies_ ABSL_GUARDED_BY(kLoopThread);
  Journal journal_ ABSL_GUARDED_BY(kLoopThread);
  std::vector<WallMicros> starts_ ABSL_GUARDED_BY(kLoopThread);
  // Workers that nobody has heard before, and whose lease was renewed in this
  // group.
  std::set<std::string> renewed_unheard_ ABSL_GUARDED_BY(kLoopThread);
  // Studies whose summary may lack trials that have ended.
  std::set<storage::StudyKey> unsummarised_ ABSL_GUARDED_BY(kLoopThread);
  bool some_study_ended_ ABSL_GUARDED_BY(kLoopThread) = false;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LEDGER_LEDGER_H_
