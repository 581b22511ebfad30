// SPDX-License-Identifier: Apache-2.0
#include "server/wire/validate.h"

#include <limits>

#include "base/ids.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

v1::CreateStudyRequest Create() {
  v1::CreateStudyRequest request;
  request.set_request_id(RandomHexId());
  request.set_study_id("imdb");
  request.mutable_spec();
  return request;
}

v1::AcquireRequest Acquire() {
  v1::AcquireRequest request;
  request.set_request_id(RandomHexId());
  request.set_worker("workers/gpu03-0");
  request.set_boot_id(RandomHexId());
  request.set_max_leases(1);
  request.mutable_wait()->set_seconds(10);
  return request;
}

v1::RegisterRequest Register() {
  v1::RegisterRequest request;
  request.set_request_id(RandomHexId());
  request.set_worker_id("gpu03-0");
  request.mutable_worker()->set_boot_id(RandomHexId());
  request.mutable_worker()->set_slots(1);
  return request;
}

void FillLease(v1::LeaseRef* lease) {
  lease->set_trial("studies/imdb/trials/7");
  lease->set_attempt(2);
  lease->set_secret(RandomHexId());
}

v1::ReportRequest Report() {
  v1::ReportRequest request;
  FillLease(request.mutable_lease());
  request.set_sequence(1);
  auto* measurement = request.add_measurements();
  measurement->set_step(3);
  (*measurement->mutable_metrics())["loss"] = 0.5;
  return request;
}

v1::FinishRequest Finish() {
  v1::FinishRequest request;
  FillLease(request.mutable_lease());
  request.mutable_outcome()->set_kind(v1::Outcome::SUCCEEDED);
  return request;
}

TEST(ValidateTest, LetsGoodRequestsPass) {
  EXPECT_OK(Validate(Create()));
  EXPECT_OK(Validate(Acquire()));
  EXPECT_OK(Validate(Register()));
  EXPECT_OK(Validate(Report()));
  EXPECT_OK(Validate(Finish()));
}

TEST(ValidateTest, AsksForARequestIdOfTheRightForm) {
  for (const std::string& id :
       {std::string(), std::string(15, 'a'), std::string(65, 'a'),
        std::string("0123456789abcde!"), std::string("0123456789 abcdef")}) {
    auto request = Create();
    request.set_request_id(id);
    EXPECT_THAT(Validate(request),
                FailsAt(ErrorId::kRequestInvalid, "request_id"))
        << id;
  }
  auto request = Create();
  request.set_request_id("8b1e7f0a-3c1d-4b5e-9f00-A_cdefabcdef");
  EXPECT_OK(Validate(request));
}

TEST(ValidateTest, AsksNoRequestIdOfADryRun) {
  auto request = Create();
  request.clear_request_id();
  request.set_validate_only(true);
  EXPECT_OK(Validate(request));
  request.set_request_id("short");
  EXPECT_THAT(Validate(request),
              FailsAt(ErrorId::kRequestInvalid, "request_id"));
}

TEST(ValidateTest, AsksForASpec) {
  auto request = Create();
  request.clear_spec();
  EXPECT_THAT(Validate(request), FailsAt(ErrorId::kRequestInvalid, "spec"));
}

TEST(ValidateTest, NamesTheFieldOfABadName) {
  auto create = Create();
  create.set_study_id("../etc");
  EXPECT_THAT(Validate(create), FailsAt(ErrorId::kNameInvalid, "study_id"));
  v1::ListTrialsRequest list;
  list.set_parent("studies/");
  EXPECT_THAT(Validate(list), FailsAt(ErrorId::kNameInvalid, "parent"));
  v1::GetReportRequest report;
  EXPECT_THAT(Validate(report), FailsAt(ErrorId::kNameInvalid, "study"));
  auto acquire = Acquire();
  acquire.set_worker("gpu03");
  EXPECT_THAT(Validate(acquire), FailsAt(ErrorId::kNameInvalid, "worker"));
}

TEST(ValidateTest, BoundsPages) {
  v1::ListStudiesRequest request;
  request.set_page_size(1000);
  EXPECT_OK(Validate(request));
  request.set_page_size(1001);
  EXPECT_THAT(Validate(request),
              FailsAt(ErrorId::kRequestInvalid, "page_size"));
  request.set_page_size(-1);
  EXPECT_THAT(Validate(request),
              FailsAt(ErrorId::kRequestInvalid, "page_size"));
  request.set_page_size(0);
  request.set_page_token(std::string(2000, 'x'));
  EXPECT_THAT(Validate(request),
              FailsAt(ErrorId::kPageTokenInvalid, "page_token"));
}

TEST(ValidateTest, RefusesAViewThatDoesNotExist) {
  v1::GetTrialRequest request;
  request.set_name("studies/imdb/trials/0");
  EXPECT_OK(Validate(request));
  request.set_view(static_cast<v1::TrialView>(9));
  EXPECT_THAT(Validate(request), FailsAt(ErrorId::kRequestInvalid, "view"));
}

TEST(ValidateTest, BoundsAcquire) {
  auto request = Acquire();
  request.set_max_leases(0);
  EXPECT_THAT(Validate(request),
              FailsAt(ErrorId::kRequestInvalid, "max_leases"));
  request = Acquire();
  request.mutable_wait()->set_seconds(31);
  EXPECT_THAT(Validate(request), FailsAt(ErrorId::kRequestInvalid, "wait"));
  request.mutable_wait()->set_seconds(-1);
  EXPECT_THAT(Validate(request), FailsAt(ErrorId::kRequestInvalid, "wait"));
  request.mutable_wait()->set_seconds(1);
  request.mutable_wait()->set_nanos(-5);
  EXPECT_THAT(Validate(request), FailsAt(ErrorId::kRequestInvalid, "wait"));
}

TEST(ValidateTest, RefusesAWaitBeyondTheDeadline) {
  const auto request = Acquire();
  EXPECT_OK(CheckWait(request, std::chrono::seconds(11)));
  EXPECT_THAT(CheckWait(request, std::chrono::seconds(9)),
              FailsAt(ErrorId::kRequestInvalid, "wait"));
}

TEST(ValidateTest, BoundsAWorker) {
  auto request = Register();
  request.mutable_worker()->set_slots(0);
  EXPECT_THAT(Validate(request),
              FailsAt(ErrorId::kRequestInvalid, "worker.slots"));
  request = Register();
  request.mutable_worker()->clear_boot_id();
  EXPECT_THAT(Validate(request),
              FailsAt(ErrorId::kRequestInvalid, "worker.boot_id"));
  request = Register();
  (*request.mutable_worker()->mutable_labels())["pool"] = std::string(257, 'x');
  EXPECT_THAT(Validate(request),
              FailsAt(ErrorId::kFieldTooLarge, "worker.labels"));
}

TEST(ValidateTest, AsksForAWholeLease) {
  auto request = Report();
  request.mutable_lease()->set_attempt(0);
  EXPECT_THAT(Validate(request),
              FailsAt(ErrorId::kRequestInvalid, "lease.attempt"));
  request = Report();
  request.mutable_lease()->clear_secret();
  EXPECT_THAT(Validate(request),
              FailsAt(ErrorId::kRequestInvalid, "lease.secret"));
  v1::HeartbeatRequest beat;
  beat.set_worker("workers/w");
  beat.set_boot_id("b");
  FillLease(beat.add_leases()->mutable_lease());
  EXPECT_OK(Validate(beat));
  beat.add_leases();
  EXPECT_THAT(Validate(beat),
              FailsAt(ErrorId::kNameInvalid, "leases[1].lease.trial"));
}

TEST(ValidateTest, BoundsMeasurements) {
  auto request = Report();
  request.mutable_measurements(0)->set_step(-1);
  EXPECT_THAT(Validate(request),
              FailsAt(ErrorId::kRequestInvalid, "measurements[0].step"));
  request = Report();
  for (int i = 0; i < 64; ++i) {
    (*request.mutable_measurements(0)->mutable_metrics())[std::to_string(i)] =
        0.0;
  }
  EXPECT_THAT(Validate(request),
              FailsAt(ErrorId::kFieldTooLarge, "measurements[0].metrics"));
  request = Report();
  for (int i = 0; i < 1000; ++i) request.add_measurements();
  EXPECT_THAT(Validate(request),
              FailsAt(ErrorId::kFieldTooLarge, "measurements"));
}

TEST(ValidateTest, AsksHowATrialEnded) {
  auto request = Finish();
  request.clear_outcome();
  EXPECT_THAT(Validate(request),
              FailsAt(ErrorId::kRequestInvalid, "outcome.kind"));
  request = Finish();
  request.mutable_outcome()->set_log_tail(std::string(65 * 1024, 'x'));
  EXPECT_THAT(Validate(request),
              FailsAt(ErrorId::kFieldTooLarge, "outcome.log_tail"));
  v1::ReleaseRequest release;
  FillLease(release.mutable_lease());
  EXPECT_THAT(Validate(release), FailsAt(ErrorId::kRequestInvalid, "reason"));
}

v1::HeartbeatRequest Heartbeat() {
  v1::HeartbeatRequest request;
  request.set_worker("workers/gpu03-0");
  request.set_boot_id(RandomHexId());
  v1::GpuLoad& gpu = *request.mutable_load()->add_gpus();
  gpu.set_uuid("GPU-5b1e7f0a-3c1d-4b5e-9f00-aacdefabcdef");
  gpu.set_utilization(1);
  gpu.set_memory_used_bytes(1);
  gpu.set_power_watts(700);
  gpu.set_temperature_celsius(-5);
  return request;
}

// Labels are told to a trainer in a line of 1 MiB; an imported metric has a
// name that a worker could have sent.
TEST(ValidateTest, BoundsWhatAnEnqueuedOrImportedTrialCarries) {
  v1::EnqueueTrialsRequest enqueue;
  v1::ImportTrialsRequest import;
  enqueue.set_request_id(RandomHexId());
  enqueue.set_name("studies/imdb");
  import.set_request_id(RandomHexId());
  import.set_name("studies/imdb");
  enqueue.add_trials();
  import.add_trials();
  const std::string most(64 * 1024 - 1, 'x');
  (*enqueue.add_trials()->mutable_labels())["k"] = most;
  v1::ImportedTrial& imported = *import.add_trials();
  (*imported.mutable_labels())["k"] = most;
  (*imported.mutable_metrics())[std::string(256, 'm')] = 0.5;
  EXPECT_OK(Validate(enqueue));
  EXPECT_OK(Validate(import));

  (*enqueue.mutable_trials(1)->mutable_labels())["l"] = "";
  EXPECT_THAT(Validate(enqueue),
              FailsAt(ErrorId::kFieldTooLarge, "trials[1].labels"));
  (*imported.mutable_labels())["l"] = "";
  EXPECT_THAT(Validate(import),
              FailsAt(ErrorId::kFieldTooLarge, "trials[1].labels"));
  imported.clear_labels();
  (*imported.mutable_metrics())[std::string(257, 'm')] = 0.5;
  EXPECT_THAT(Validate(import),
              FailsAt(ErrorId::kFieldTooLarge, "trials[1].metrics"));
}

TEST(ValidateTest, TakesALoadOfFiniteNumbersOfFewGpus) {
  EXPECT_OK(Validate(Heartbeat()));
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const auto fails = [](const auto& change, const std::string& field) {
    v1::HeartbeatRequest request = Heartbeat();
    change(*request.mutable_load());
    EXPECT_THAT(Validate(request), FailsAt(ErrorId::kRequestInvalid, field));
  };
  using Load = v1::NodeLoad;
  fails([&](Load& load) { load.mutable_gpus(0)->set_utilization(kNan); },
        "load.gpus[0].utilization");
  fails([&](Load& load) { load.mutable_gpus(0)->set_utilization(1.5); },
        "load.gpus[0].utilization");
  fails([&](Load& load) { load.mutable_gpus(0)->set_power_watts(-1); },
        "load.gpus[0].power_watts");
  fails([&](Load& load) { load.mutable_gpus(0)->set_memory_used_bytes(-1); },
        "load.gpus[0].memory_used_bytes");
  fails(
      [&](Load& load) {
        load.mutable_gpus(0)->set_memory_total_bytes(std::int64_t{1} << 60);
      },
      "load.gpus[0].memory_total_bytes");
  fails(
      [&](Load& load) { load.mutable_gpus(0)->set_temperature_celsius(kNan); },
      "load.gpus[0].temperature_celsius");
  fails([&](Load& load) { load.mutable_gpus(0)->clear_uuid(); },
        "load.gpus[0].uuid");
  fails([&](Load& load) { *load.add_gpus() = load.gpus(0); },
        "load.gpus[1].uuid");
  fails([&](Load& load) { load.set_cpu_share(kNan); }, "load.cpu_share");
  fails([&](Load& load) { load.set_disk_free_bytes(-1); },
        "load.disk_free_bytes");
}

TEST(ValidateTest, TakesSixtyFourGpus) {
  v1::HeartbeatRequest request = Heartbeat();
  for (int i = 0; i < 64; ++i) {
    request.mutable_load()->add_gpus()->set_uuid(std::to_string(i));
  }
  EXPECT_THAT(Validate(request), FailsAt(ErrorId::kFieldTooLarge, "load.gpus"));
  v1::RegisterRequest registration = Register();
  for (int i = 0; i < 65; ++i) {
    registration.mutable_worker()->mutable_hardware()->add_gpus();
  }
  EXPECT_THAT(Validate(registration),
              FailsAt(ErrorId::kFieldTooLarge, "worker.hardware.gpus"));
}

}  // namespace
}  // namespace frostline::server
