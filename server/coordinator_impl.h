// SPDX-License-Identifier: Apache-2.0
//
// File: coordinator_impl.h
//
// What all methods of the coordinator share: the state, owned by the commit
// loop's thread, and the few ways in which it changes. The methods themselves
// are in *_methods.cc, acquire.cc, report.cc, finish.cc and explain.cc; what
// happens without a caller (leases that end, proposals that arrive) in turn.cc.
#ifndef FROSTLINE_SERVER_COORDINATOR_IMPL_H_
#define FROSTLINE_SERVER_COORDINATOR_IMPL_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/status_macros.h"
#include "server/coordinator.h"
#include "server/dispatch/parked_calls.h"
#include "server/dispatch/waiting_room.h"
#include "server/importance/desk.h"
#include "server/ledger/lease_book.h"
#include "server/ledger/study_book.h"
#include "server/ledger/worker_book.h"
#include "server/loop/commit_loop.h"
#include "server/loop/task_pool.h"
#include "server/search/proposer.h"
#include "server/wire/study_handle.h"

namespace frostline {

// Members without a comment belong to the loop's thread.
class Coordinator::Impl {
 public:
  Impl(CoordinatorOptions options, TrialStore& store, const Clock& clock);

  absl::Status Start();
  void Drain();
  void StartWatch(v1::WatchStudyRequest request, Duration wait,
                  CancelFlag cancelled,
                  Reply<std::vector<v1::StudyEvent>> reply);
  void StartAcquire(v1::AcquireRequest request, CancelFlag cancelled,
                    Reply<v1::AcquireReply> reply);
  void StartReport(v1::ReportRequest request, Reply<v1::ReportReply> reply);
  void StartLog(v1::GetTrialLogRequest request,
                Reply<v1::GetTrialLogReply> reply);
  void StartBackup(v1::BackupRequest request, Reply<v1::BackupReply> reply);

  // Posts a caller's work to the loop; when that cannot be, `refuse` is called
  // with the reason instead. Any thread.
  void PostCall(CommitLoop::Work work,
                absl::FunctionRef<void(const absl::Status&)> refuse);
  // Runs `body` on the loop; its answer goes to `reply` once on disk. Any
  // thread.
  template <typename T, typename Body>
  void Submit(Reply<T> reply, Body body);
  // The same, answered only once per request id: the second time from what was
  // stored.
  template <typename Request, typename T, typename Body>
  void SubmitOnce(const char* method, Request request, Reply<T> reply,
                  Body body);
  // Looks up a study on the loop, then runs `body(handle)` on a reader. Any
  // thread.
  template <typename T, typename Body>
  void Read(const std::string& study_name, Reply<T> reply, Body body);
  // The same of several studies for a body that replies itself, later:
  // `body(handles, reply)`.
  template <typename T, typename Body>
  void ReadAll(std::vector<std::string> study_names, Reply<T> reply, Body body);
  ImportanceDesk& importance() { return importance_; }

  // study_methods.cc
  absl::StatusOr<v1::CreateStudyReply> CreateStudy(
      Batch& batch, const v1::CreateStudyRequest& request);
  // The trial's number.
  absl::StatusOr<std::int64_t> Enqueue(Batch& batch, StudyBook& book,
                                       const v1::EnqueuedTrial& trial,
                                       int priority, const std::string& field);
  absl::StatusOr<v1::Study> SetState(Batch& batch, const std::string& name,
                                     StudyState state,
                                     const std::string& reason);
  absl::StatusOr<v1::Study> StopStudy(Batch& batch,
                                      const v1::StopStudyRequest& request);
  absl::StatusOr<v1::ListStudiesReply> ListStudies(
      const v1::ListStudiesRequest& request);
  absl::StatusOr<v1::Study> UpdateStudy(Batch& batch,
                                        const v1::UpdateStudyRequest& request);
  absl::StatusOr<v1::Study> DeleteStudy(Batch& batch,
                                        const v1::DeleteStudyRequest& request);
  v1::Study Describe(const StudyBook& book) const;

  // trial_methods.cc
  // Checks and takes them; a completed study that has budget left goes on.
  absl::Status ChangeSettings(Batch& batch, StudyBook& book,
                              const v1::StudySettings& settings);
  // Room in the budget for `count` more trials, made if need be.
  absl::Status RaiseBudget(Batch& batch, StudyBook& book, std::int64_t count,
                           v1::EnqueueTrialsReply& reply);
  absl::StatusOr<v1::EnqueueTrialsReply> EnqueueTrials(
      Batch& batch, const v1::EnqueueTrialsRequest& request);
  absl::StatusOr<v1::ImportTrialsReply> ImportTrials(
      Batch& batch, const v1::ImportTrialsRequest& request);
  absl::StatusOr<v1::Trial> UpdateTrial(Batch& batch,
                                        const v1::UpdateTrialRequest& request);
  absl::StatusOr<v1::Trial> CancelTrial(Batch& batch,
                                        const v1::CancelTrialRequest& request);
  absl::StatusOr<AttemptRow> CheckpointOf(const TrialRow& row,
                                          const std::string& name) const;
  absl::StatusOr<v1::Trial> RetryTrial(Batch& batch,
                                       const v1::RetryTrialRequest& request);

  // explain.cc
  std::string ProgressOf(const TrialRow& row) const;
  absl::StatusOr<v1::ExplainStudyReply> ExplainStudy(
      const v1::ExplainStudyRequest& request);

  // worker_methods.cc, acquire.cc, lease_methods.cc, report.cc, finish.cc
  absl::StatusOr<v1::RegisterReply> Register(
      Batch& batch, const v1::RegisterRequest& request);
  static std::uint64_t HashAcquire(v1::AcquireRequest request);
  absl::StatusOr<v1::Lease> LeaseAgain(const v1::Lease& name);
  // What this request was answered before, if it was.
  absl::StatusOr<std::optional<v1::AcquireReply>> AcquiredBefore(
      const v1::AcquireRequest& request);
  absl::StatusOr<v1::HeartbeatReply> Heartbeat(
      Batch& batch, const v1::HeartbeatRequest& request);
  absl::StatusOr<TrialKey> Report(Batch& batch,
                                  const v1::ReportRequest& request);
  void AnswerReport(TrialKey trial, const v1::Directive& directive,
                    const std::shared_ptr<Reply<v1::ReportReply>>& reply);
  absl::StatusOr<v1::FinishReply> Finish(Batch& batch,
                                         const v1::FinishRequest& request);
  absl::StatusOr<v1::ReleaseReply> Release(Batch& batch,
                                           const v1::ReleaseRequest& request);
  absl::StatusOr<v1::ListWorkersReply> ListWorkers(
      const v1::ListWorkersRequest& request);

  absl::StatusOr<v1::Worker> DrainWorker(Batch& batch,
                                         const v1::DrainWorkerRequest& request);
  v1::Worker Describe(const WorkerEntry& entry) const;

  // read_methods.cc; on a reader's thread
  absl::StatusOr<v1::Trial> Render(const TrialRow& row,
                                   const StudyHandle& study,
                                   v1::TrialView view) const;
  absl::StatusOr<v1::Trial> GetTrial(const StudyHandle& study,
                                     const v1::GetTrialRequest& request);
  absl::StatusOr<v1::ListTrialsReply> ListTrials(
      const StudyHandle& study, const v1::ListTrialsRequest& request);
  absl::StatusOr<v1::ListMeasurementsReply> ListMeasurements(
      const StudyHandle& study, const v1::ListMeasurementsRequest& request);
  absl::StatusOr<ExportedPage> ExportNext(
      const StudyHandle& study, const v1::ExportTrialsRequest& request,
      std::int64_t after);  // export.cc
  absl::StatusOr<v1::ListBestTrialsReply> ListBestTrials(
      const StudyHandle& study, const v1::ListBestTrialsRequest& request);
  absl::StatusOr<v1::ExampleOutcomes> GetExampleOutcomes(
      const StudyHandle& study, const v1::GetExampleOutcomesRequest& request);
  absl::StatusOr<std::vector<v1::StudyEvent>> EventsAfter(
      const StudyHandle& study, v1::Study now, std::int64_t after_revision,
      v1::TrialView view);

  // log_methods.cc; on the loop
  absl::StatusOr<ParkedLog> FindLogged(const v1::GetTrialLogRequest& request);
  // What the store has; to be called on a reader's thread.
  absl::StatusOr<v1::GetTrialLogReply> StoredLog(TrialKey trial,
                                                 std::int64_t attempt) const;
  void AnswerStoredLog(ParkedLog parked);
  // A worker sent the tail of a trial it holds.
  void TakeLog(Batch& batch, TrialKey trial, const v1::LeaseProgress& progress);

  // admin_methods.cc; on the loop
  v1::ServerInfo Info() const;
  // STORE_FULL when the disk has no room for another study; the one that is
  // there already is answered. Asked outside of a Write, in which STORE_FULL
  // means that the store has failed.
  absl::Status MayBegin(const v1::CreateStudyRequest& request) const;
  template <typename Request>
  absl::Status MayBegin(const Request&) const {
    return absl::OkStatus();
  }

 private:
  friend class Coordinator;

  void Committed();
  void Reload();

  // load.cc: memory from the store; `grace` is added to every lease.
  absl::Status Load(Duration grace);
  std::vector<PriorStudy> PriorStudiesLeft(const StudyRow& row,
                                           const CheckedStudy& checked) const;
  absl::Status LoadStudy(const StudyRow& row, const LeaseBook& known,
                         Duration grace);
  LeaseRules DefaultLease() const {
    return {.ttl = options_.lease_ttl,
            .heartbeat_interval = options_.heartbeat_interval,
            .retry = {}};
  }

  // turn.cc
  void Turn(Batch& batch);
  void LookAtRoom();
  void Sweep(Batch& batch);
  void EndDueLeases(Batch& batch);
  void AnswerDue(Batch& batch);
  // Tells a call that leaves the waiting room why there is nothing for it.
  void AnswerNone(Batch& batch, ParkedAcquire& parked);
  void TurnAwayFromEnded(Batch& batch);
  void CompleteTimedOut(Batch& batch);
  std::optional<SteadyTime> NextDue() const;

  // acquire.cc
  void Park(Batch& batch, ParkedAcquire parked);
  // The one study it asks for has ended.
  bool WaitsForNothing(const v1::AcquireRequest& request) const;
  v1::AcquireReply NothingFor(const ParkedAcquire& parked);
  // Turns away those of a worker's parked calls for which `leaves` holds.
  void TurnAway(Batch& batch, const std::string& worker,
                absl::FunctionRef<bool(const ParkedAcquire&)> leaves);

  // serve.cc: what a study has to give in this turn.
  struct Supply {
    StudyBook* book = nullptr;
    std::int64_t queued = 0;       // trials nobody has been given yet
    std::int64_t can_propose = 0;  // with those under way
    std::int64_t wanted = 0;       // of these, by who waits or is expected
  };
  void ServeWaiting(Batch& batch);
  std::vector<Supply> Supplies();  // best first
  // Leases to `parked` what there is; true when it has been answered.
  bool TryServe(Batch& batch, ParkedAcquire& parked,
                std::vector<Supply>& supplies);
  static bool MayServe(const WorkerEntry& worker, const StudyBook& book);
  bool GrantNext(Batch& batch, StudyBook& book, const ParkedAcquire& parked,
                 v1::AcquireReply& reply);
  // Counts what workers that are about to ask will want.
  void CountExpected(std::vector<Supply>& supplies);
  // The worker has so many more free slots and will ask for trials.
  void Expect(const std::string& worker, std::int64_t slots);
  void TakeProposals(Batch& batch, const Proposals& proposals);

  void WakeWatchers();  // watch.cc

  // The ways in which state changes: written, then absorbed. `more` is written
  // in the same operation.
  absl::Status Persist(Batch& batch, StudyBook& book, Transition transition,
                       absl::FunctionRef<absl::Status(Transaction&)> more);
  absl::Status PersistStudy(Batch& batch, StudyBook& book, StudyState state,
                            const std::string& reason);
  absl::Status PersistRow(Batch& batch, StudyBook& book, StudyRow row);
  absl::Status InsertTrial(Batch& batch, StudyBook& book, TrialRow row);
  void AfterChange(Batch& batch, StudyBook& book, const TrialRow& row);
  void CompleteIfDone(Batch& batch, StudyBook& book);

  absl::StatusOr<StudyBook*> FindStudy(const std::string& name);
  // A trial by name, open or ended.
  struct Named {
    StudyBook* book = nullptr;
    OpenTrial trial;
  };
  absl::StatusOr<Named> FindTrial(const std::string& name);
  v1::Trial Describe(const StudyBook& book, const TrialRow& row) const;
  // STUDY_NOT_ACTIVE unless trials may be added to the study.
  static absl::Status RequireOpen(const StudyBook& book);
  // The trial that a lease names, open or ended.
  struct Leased {
    StudyBook* book = nullptr;
    OpenTrial trial;
    LeaseProof proof;
    std::optional<AttemptRow> claimed;  // when not the newest attempt
  };
  absl::StatusOr<Leased> FindLeased(const v1::LeaseRef& lease);
  // The same; a lost attempt whose trial nobody took yet is reinstated.
  absl::StatusOr<Leased> FindHeld(Batch& batch, const v1::LeaseRef& lease);
  // A lease that holds is renewed; the answer says what its worker is to do.
  v1::Directive Renew(Batch& batch, const v1::LeaseRef& lease, bool drain);
  void Hear(Batch& batch, const v1::LeaseProgress& progress,
            v1::HeartbeatReply& reply);
  absl::Status CheckOrder(const Leased& leased,
                          const std::vector<MeasurementRow>& rows) const;
  // Takes a worker that fails trial after trial out of service.
  void JudgeWorker(Batch& batch, const std::string& worker, bool failed);

  // What a request id was answered before; REQUEST_ID_REUSED for another
  // request.
  absl::StatusOr<std::optional<std::string>> FindReply(
      const std::string& request_id, const char* method, std::uint64_t hash);
  absl::Status Remember(Transaction& transaction, const std::string& request_id,
                        const char* method, std::uint64_t hash,
                        const std::string& reply);
  static StudyHandle HandleOf(const StudyBook& book);

  const CoordinatorOptions options_;  // any thread
  TrialStore& store_;                 // any thread
  const Clock& clock_;                // any thread
  const WallMicros started_;          // any thread
  std::map<StudyKey, StudyBook> studies_;
  std::map<std::string, StudyKey> key_of_study_;
  LeaseBook leases_;
  WorkerBook workers_;
  WaitingRoom<ParkedAcquire> parked_;
  WaitingRoom<ParkedWatch> watching_;
  struct Expected {
    std::int64_t slots = 0;
    SteadyTime until{};
  };
  std::map<std::string, Expected> expected_;  // by worker, see Expect()
  bool some_study_ended_ = false;             // in this turn
  // What each pruned attempt is told until it has obeyed.
  std::map<TrialKey, std::pair<std::int64_t, std::string>> prune_wanted_;
  std::map<std::string, ReplyRow>
      fresh_replies_;  // not readable from the store yet
  std::map<std::tuple<StudyKey, std::int64_t, std::int64_t>, AttemptRow>
      fresh_attempts_;  // by (study, number, attempt); likewise
  WaitingRoom<ParkedLog> log_waiters_;
  // As its worker last said, for people.
  struct Progress {
    std::int64_t step = 0;
    std::int64_t total_steps = 0;
    SteadyTime stepped{};
  };
  std::map<TrialKey, Progress> progress_;  // of running trials
  std::set<std::string> backups_;          // request ids under way
  DiskRoom room_;                          // as last looked at, see Turn()
  SteadyTime room_looked_at_{};
  std::set<StudyKey> changed_;  // since the last commit, or to be looked at
  std::int64_t epoch_ = 0;
  WallMicros swept_ = 0;
  SteadyTime last_turn_{};
  SteadyTime timed_out_checked_{};
  bool draining_ = false;
  Rng seeds_;  // of studies that bring none

  // Ended by Drain() in this order.
  CommitLoop loop_;
  Proposer proposer_;
  TaskPool readers_;
  ImportanceDesk importance_;  // thread-safe
};

absl::Status DrainingError();
// For Persist: there is nothing else to write.
inline absl::Status NothingMore(Transaction&) { return absl::OkStatus(); }
// Equal for equal requests, whatever their request id.
std::uint64_t HashRequest(const google::protobuf::Message& request);

template <typename T, typename Body>
void Coordinator::Impl::Submit(Reply<T> reply, Body body) {
  auto shared = std::make_shared<Reply<T>>(std::move(reply));
  PostCall(
      [shared, body = std::move(body)](Batch& batch) mutable {
        absl::StatusOr<T> answer = body(batch);
        batch.Then([shared, answer = std::move(answer)](
                       const absl::Status& committed) mutable {
          (*shared)(committed.ok() ? std::move(answer)
                                   : absl::StatusOr<T>(committed));
        });
      },
      [&shared](const absl::Status& refused) { (*shared)(refused); });
}

template <typename Request, typename T, typename Body>
void Coordinator::Impl::SubmitOnce(const char* method, Request request,
                                   Reply<T> reply, Body body) {
  Submit<T>(std::move(reply),
            [this, method, request = std::move(request),
             body = std::move(body)](Batch& batch) -> absl::StatusOr<T> {
              const std::uint64_t hash = HashRequest(request);
              ASSIGN_OR_RETURN(const std::optional<std::string> stored,
                               FindReply(request.request_id(), method, hash));
              if (stored.has_value()) {
                T again;
                again.ParseFromString(*stored);
                return again;
              }
              RETURN_IF_ERROR(MayBegin(request));
              absl::StatusOr<T> answer = MakeError(ErrorId::kInternal, "", "");
              RETURN_IF_ERROR(batch.Write([&](Transaction& transaction) {
                answer = body(batch, request);
                RETURN_IF_ERROR(answer.status());
                return Remember(transaction, request.request_id(), method, hash,
                                answer->SerializeAsString());
              }));
              return answer;
            });
}

template <typename T, typename Body>
void Coordinator::Impl::Read(const std::string& study_name, Reply<T> reply,
                             Body body) {
  ReadAll<T>({study_name}, std::move(reply),
             [body = std::move(body)](const std::vector<StudyHandle>& handles,
                                      Reply<T> answer) mutable {
               answer(body(handles[0]));
             });
}

template <typename T, typename Body>
void Coordinator::Impl::ReadAll(std::vector<std::string> study_names,
                                Reply<T> reply, Body body) {
  using Handles = std::vector<StudyHandle>;
  Submit<Handles>(
      [this, reply = std::move(reply),
       body = std::move(body)](absl::StatusOr<Handles> handles) mutable {
        if (!handles.ok()) return reply(handles.status());
        readers_.Post([reply = std::move(reply), handles = *std::move(handles),
                       body = std::move(body)]() mutable {
          body(handles, std::move(reply));
        });
      },
      [this,
       names = std::move(study_names)](Batch&) -> absl::StatusOr<Handles> {
        Handles handles;
        for (const std::string& name : names) {
          ASSIGN_OR_RETURN(StudyBook * book, FindStudy(name));
          handles.push_back(HandleOf(*book));
        }
        return handles;
      });
}

}  // namespace frostline

#endif  // FROSTLINE_SERVER_COORDINATOR_IMPL_H_
