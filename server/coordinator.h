// SPDX-License-Identifier: Apache-2.0
//
// File: coordinator.h
//
// The service behind the wire: every method of the contract as a plain call in
// our words, without gRPC and without SQL. server/rpc/ is its only caller
// besides tests.
//
//   Coordinator coordinator(options, store, clock);
//   RETURN_IF_ERROR(coordinator.Start());  // loads what the store holds
//   coordinator.CreateStudy(request, reply);
//   coordinator.Drain();                   // answers every parked call
//
// Threads: any thread may call. A call returns at once; its reply is called
// exactly once, from a thread of the coordinator, and must not block. A
// mutating call is answered only after its transaction is on disk. One thread
// owns all state and the database's write side (commit_loop.h), a few threads
// read snapshots, one runs samplers; none waits for another while holding a
// lock.
//
// Failure: when the disk fails a commit the process must end; `on_fatal` is
// called once and every waiting call is answered UNAVAILABLE.
#ifndef FROSTLINE_SERVER_COORDINATOR_H_
#define FROSTLINE_SERVER_COORDINATOR_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "frostline/v1/admin_service.pb.h"
#include "frostline/v1/importance_service.pb.h"
#include "frostline/v1/study_service.pb.h"
#include "frostline/v1/worker_service.pb.h"
#include "storage/trial_store.h"

namespace frostline {

template <typename T>
using Reply = absl::AnyInvocable<void(absl::StatusOr<T>)>;

// A part of an export, and the trial after which the next part goes on; nothing
// after the last part.
struct ExportedPage {
  std::string data;
  std::optional<std::int64_t> next;
};

// Set by the edge when the caller has hung up: a lease is not granted to
// nobody.
using CancelFlag = std::shared_ptr<std::atomic<bool>>;

struct CoordinatorOptions {
  Duration lease_ttl = std::chrono::seconds(60);
  Duration heartbeat_interval = std::chrono::seconds(15);
  // Added to every lease after a restart, so that a fleet can come back.
  Duration restart_grace = std::chrono::seconds(120);
  Duration longest_wait = std::chrono::seconds(30);
  int reader_threads = 2;
  int importance_threads = 2;      // each computation uses all cores besides
  std::string backup_folder = {};  // created at the first backup
  std::function<void(const absl::Status&)> on_fatal = nullptr;
};

class Coordinator {
 public:
  Coordinator(CoordinatorOptions options, TrialStore& store,
              const Clock& clock);
  ~Coordinator();  // Drain()s
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  // Loads every study; call once, before any other method.
  absl::Status Start();
  // Refuses new work, answers parked calls, ends the threads. Idempotent.
  void Drain();

  // StudyService
  void CreateStudy(v1::CreateStudyRequest, Reply<v1::CreateStudyReply>);
  void GetStudy(v1::GetStudyRequest, Reply<v1::Study>);
  void ListStudies(v1::ListStudiesRequest, Reply<v1::ListStudiesReply>);
  void PauseStudy(v1::PauseStudyRequest, Reply<v1::Study>);
  void ResumeStudy(v1::ResumeStudyRequest, Reply<v1::Study>);
  void StopStudy(v1::StopStudyRequest, Reply<v1::Study>);
  void UpdateStudy(v1::UpdateStudyRequest, Reply<v1::Study>);
  void DeleteStudy(v1::DeleteStudyRequest, Reply<v1::Study>);
  void ExplainStudy(v1::ExplainStudyRequest, Reply<v1::ExplainStudyReply>);
  void EnqueueTrials(v1::EnqueueTrialsRequest, Reply<v1::EnqueueTrialsReply>);
  void ImportTrials(v1::ImportTrialsRequest, Reply<v1::ImportTrialsReply>);
  void UpdateTrial(v1::UpdateTrialRequest, Reply<v1::Trial>);
  void CancelTrial(v1::CancelTrialRequest, Reply<v1::Trial>);
  void RetryTrial(v1::RetryTrialRequest, Reply<v1::Trial>);
  void GetTrial(v1::GetTrialRequest, Reply<v1::Trial>);
  void ListTrials(v1::ListTrialsRequest, Reply<v1::ListTrialsReply>);
  void ListMeasurements(v1::ListMeasurementsRequest,
                        Reply<v1::ListMeasurementsReply>);
  void ListBestTrials(v1::ListBestTrialsRequest,
                      Reply<v1::ListBestTrialsReply>);
  void GetExampleOutcomes(v1::GetExampleOutcomesRequest,
                          Reply<v1::ExampleOutcomes>);
  void GetTrialLog(v1::GetTrialLogRequest, Reply<v1::GetTrialLogReply>);
  // The next few hundred trials after number `after` (-1: from the first), as
  // text.
  void ExportNext(v1::ExportTrialsRequest, std::int64_t after,
                  Reply<ExportedPage>);
  // The next changes after a revision, by rising revision, at most 256; waits
  // up to `wait` for one. An empty list: nothing changed in that time. The edge
  // makes a stream of it.
  void NextEvents(v1::WatchStudyRequest, Duration wait, CancelFlag cancelled,
                  Reply<std::vector<v1::StudyEvent>>);

  // WorkerService
  void Register(v1::RegisterRequest, Reply<v1::RegisterReply>);
  void Acquire(v1::AcquireRequest, CancelFlag cancelled,
               Reply<v1::AcquireReply>);
  void Heartbeat(v1::HeartbeatRequest, Reply<v1::HeartbeatReply>);
  void Report(v1::ReportRequest, Reply<v1::ReportReply>);
  void Finish(v1::FinishRequest, Reply<v1::FinishReply>);
  void Release(v1::ReleaseRequest, Reply<v1::ReleaseReply>);
  void ListWorkers(v1::ListWorkersRequest, Reply<v1::ListWorkersReply>);
  void DrainWorker(v1::DrainWorkerRequest, Reply<v1::Worker>);

  // ImportanceService
  void GetReport(v1::GetReportRequest, CancelFlag cancelled,
                 Reply<v1::ImportanceReport>);
  void ListPairs(v1::ListPairsRequest, CancelFlag cancelled,
                 Reply<v1::ListPairsReply>);
  void GetMarginals(v1::GetMarginalsRequest, CancelFlag cancelled,
                    Reply<v1::GetMarginalsReply>);
  void GetPairMarginal(v1::GetPairMarginalRequest, CancelFlag cancelled,
                       Reply<v1::PairMarginal>);
  void GetStability(v1::GetStabilityRequest, CancelFlag cancelled,
                    Reply<v1::GetStabilityReply>);
  void CompareStudies(v1::CompareStudiesRequest, CancelFlag cancelled,
                      Reply<v1::StudyComparison>);
  void GetPlan(v1::GetPlanRequest, CancelFlag cancelled, Reply<v1::FreezePlan>);
  void GetFrontier(v1::GetFrontierRequest, CancelFlag cancelled,
                   Reply<v1::Frontier>);
  void AskPlan(v1::AskPlanRequest, CancelFlag cancelled,
               Reply<v1::AskPlanReply>);
  void GetPlanRivals(v1::GetPlanRivalsRequest, CancelFlag cancelled,
                     Reply<v1::GetPlanRivalsReply>);
  void GetPlanVerification(v1::GetPlanVerificationRequest, CancelFlag cancelled,
                           Reply<v1::PlanVerification>);

  // AdminService
  void Backup(v1::BackupRequest, Reply<v1::BackupReply>);
  void GetInfo(v1::GetInfoRequest, Reply<v1::ServerInfo>);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace frostline

#endif  // FROSTLINE_SERVER_COORDINATOR_H_
