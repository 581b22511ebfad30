// SPDX-License-Identifier: Apache-2.0
//
// Every mutating call sent twice says the same and does nothing more; and of
// many coordinators on one folder one serves.
#include <chrono>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "tests/fault/harness.h"

namespace frostline::test {
namespace {

using Studies = v1::StudyService::Stub;
using Workers = v1::WorkerService::Stub;

class ReplayTest : public FaultTest {
 protected:
  void SetUp() override {
    Boot({});
    study_ = Create("s", 20);
  }

  // All that can be seen of the study and the fleet, once nothing more comes:
  // a trial may be prepared for a slot that has become free.
  std::string State() {
    std::string state = Seen();
    for (std::string before; before != state;) {
      before = std::exchange(state, "");
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      state = Seen();
    }
    return state;
  }
  std::string Seen() {
    const auto stored = admin_->ReadStudy(study_, true);
    EXPECT_OK(stored);
    std::string text = stored->study.DebugString();
    for (const bench::StoredTrial& trial : stored->trials) {
      text += trial.trial.DebugString();
      for (const auto& [attempt, rows] : trial.measurements) {
        for (const v1::Measurement& row : rows) text += row.ShortDebugString();
      }
    }
    return text;
  }

  // Twice, and once more after a crash: a reply is as durable as its effect.
  template <typename Stub, typename Request, typename Reply>
  Reply Twice(Stub& stub,
              grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                           Reply*),
              const Request& request) {
    const auto first = admin_->Call(stub, method, request);
    EXPECT_OK(first);
    if (!first.ok()) return Reply();
    ++record_["calls"];
    const std::string state = State();
    for (const bool crashes : {false, true}) {
      if (crashes) Crash();
      ++record_["repetitions"];
      const auto again = admin_->Call(stub, method, request);
      EXPECT_OK(again);
      if (!again.ok()) continue;
      EXPECT_EQ(again->ShortDebugString(), first->ShortDebugString());
      EXPECT_EQ(State(), state) << request.GetTypeName();
    }
    return *first;
  }

  template <typename Request>
  Request Named(const std::string& name) {
    Request request;
    request.set_request_id(RandomHexId());
    request.set_name(name);
    return request;
  }

  // A registered worker's lease.
  v1::LeaseRef Lease() {
    v1::RegisterRequest life;
    life.set_request_id(RandomHexId());
    life.set_worker_id("w");
    life.mutable_worker()->set_boot_id("boot-1");
    life.mutable_worker()->set_slots(1);
    EXPECT_OK(admin_->Call(admin_->workers(), &Workers::Register, life));
    v1::AcquireRequest acquire;
    acquire.set_request_id(RandomHexId());
    acquire.set_worker("workers/w");
    acquire.set_boot_id("boot-1");
    acquire.set_max_leases(1);
    acquire.set_study(study_);
    acquire.mutable_wait()->set_seconds(5);
    const v1::AcquireReply reply =
        Twice(admin_->workers(), &Workers::Acquire, acquire);
    EXPECT_EQ(reply.leases_size(), 1);
    v1::LeaseRef ref;
    if (reply.leases().empty()) return ref;
    ref.set_trial(reply.leases(0).trial());
    ref.set_attempt(reply.leases(0).attempt());
    ref.set_secret(reply.leases(0).secret());
    return ref;
  }

  std::string study_;
};

TEST_F(ReplayTest, OfPeople) {
  Studies& studies = admin_->studies();
  Twice(studies, &Studies::CreateStudy, bench::LoadStudy("t", 5, 2));
  auto enqueue = Named<v1::EnqueueTrialsRequest>(study_);
  (*enqueue.add_trials()->mutable_values())["x0"].set_number_value(1e-4);
  Twice(studies, &Studies::EnqueueTrials, enqueue);
  Twice(studies, &Studies::ImportTrials, bench::LoadHistory(study_, 3, 3));
  auto update = Named<v1::UpdateStudyRequest>(study_);
  update.mutable_settings()->mutable_budget()->set_trials(30);
  update.mutable_update_mask()->add_paths("budget");
  Twice(studies, &Studies::UpdateStudy, update);
  Twice(studies, &Studies::PauseStudy, Named<v1::PauseStudyRequest>(study_));
  Twice(studies, &Studies::ResumeStudy, Named<v1::ResumeStudyRequest>(study_));
  auto note = Named<v1::UpdateTrialRequest>(study_ + "/trials/1");
  note.set_note("imported");
  note.mutable_update_mask()->add_paths("note");
  Twice(studies, &Studies::UpdateTrial, note);
  Twice(studies, &Studies::RetryTrial,
        Named<v1::RetryTrialRequest>(study_ + "/trials/1"));
  Twice(studies, &Studies::CancelTrial,
        Named<v1::CancelTrialRequest>(study_ + "/trials/0"));
  Twice(studies, &Studies::StopStudy, Named<v1::StopStudyRequest>(study_));
  Twice(studies, &Studies::DeleteStudy,
        Named<v1::DeleteStudyRequest>("studies/t"));
}

TEST_F(ReplayTest, OfWorkers) {
  Workers& workers = admin_->workers();
  v1::ReleaseRequest release;
  *release.mutable_lease() = Lease();
  release.set_reason(v1::ReleaseRequest::UNRUN);
  Twice(workers, &Workers::Release, release);
  v1::ReportRequest report;
  *report.mutable_lease() = Lease();
  report.set_sequence(1);
  (*report.add_measurements()->mutable_metrics())["accuracy"] = 0.5;
  Twice(workers, &Workers::Report, report);
  v1::FinishRequest finish;
  *finish.mutable_lease() = report.lease();
  finish.mutable_outcome()->set_kind(v1::Outcome::SUCCEEDED);
  (*finish.mutable_outcome()->mutable_metrics())["accuracy"] = 0.75;
  const v1::FinishReply reply = Twice(workers, &Workers::Finish, finish);
  EXPECT_EQ(reply.verdict(), v1::FinishReply::ACCEPTED);
  v1::DrainWorkerRequest drain;
  drain.set_request_id(RandomHexId());
  drain.set_worker("workers/w");
  ASSERT_OK(admin_->Call(workers, &Workers::DrainWorker, drain));
  EXPECT_OK(admin_->Call(workers, &Workers::DrainWorker, drain));
}

TEST_F(ReplayTest, AnotherRequestUnderAUsedIdIsRefused) {
  v1::CreateStudyRequest request = bench::LoadStudy("t", 5, 2);
  ASSERT_OK(admin_->Call(admin_->studies(), &Studies::CreateStudy, request));
  request.set_study_id("u");
  EXPECT_THAT(admin_->Call(admin_->studies(), &Studies::CreateStudy, request),
              FailsWith(ErrorId::kRequestIdReused));
}

using RaceTest = FaultTest;

TEST_F(RaceTest, OfManyCoordinatorsOnOneFolderOneServes) {
  for (int round = 0; round < FaultCount(5, 100); ++round) {
    std::vector<std::unique_ptr<bench::CoordinatorProgram>> racers;
    for (int i = 0; i < 8; ++i) {
      racers.push_back(
          std::make_unique<bench::CoordinatorProgram>(bench::CoordinatorSpec{
              .data = folder_.File(absl::StrCat("race-", round)),
              .log = folder_.File(absl::StrCat("racer-", round, "-", i))}));
    }
    for (const auto& racer : racers) racer->Spawn();
    int serving = 0;
    for (const auto& racer : racers) {
      if (racer->AwaitListening()) {
        ++serving;
      } else {
        EXPECT_EQ(racer->ended_with(), kExitConflict) << racer->program().Log();
      }
    }
    EXPECT_EQ(serving, 1);
    record_.AddViolations(serving == 1 ? 0 : 1);
    ++record_["races"];
    record_["coordinators"] += static_cast<std::int64_t>(racers.size());
  }
}

}  // namespace
}  // namespace frostline::test
