// SPDX-License-Identifier: Apache-2.0
//
// What operators and the curious ask for: logs, backups, retries from a
// checkpoint, and what happens when the disk runs out.
#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/factory.h"
#include "tests/server/driver.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::server {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;

class OperationsTest : public ::testing::Test {
 protected:
  OperationsTest() { Open({}); }

  void Open(const storage::StoreLimits& limits) {
    driver_.reset();
    store_.reset();
    store_ = *storage::OpenStore(
        {.data_folder = folder_.File("data"), .limits = limits});
    driver_ = std::make_unique<Driver>(
        *store_, clock_,
        CoordinatorOptions{.backup_folder = folder_.File("backups")});
  }
  v1::Lease Begin() {
    EXPECT_OK(driver_->Call<v1::CreateStudyReply>(ExampleStudy("a", 5)));
    EXPECT_OK(driver_->Register("w", "boot-1"));
    return driver_->AcquireOne("w", "boot-1");
  }
  std::future<absl::StatusOr<v1::GetTrialLogReply>> AskLog(
      const std::string& trial, std::int64_t attempt = 0,
      std::int32_t max_bytes = 0) {
    v1::GetTrialLogRequest request;
    request.set_name(trial);
    request.set_attempt(attempt);
    request.set_max_bytes(max_bytes);
    request.mutable_wait()->set_seconds(20);
    return driver_->Start<v1::GetTrialLogReply>(request);
  }
  absl::StatusOr<v1::HeartbeatReply> Beat(const v1::Lease& lease,
                                          const std::string& tail) {
    v1::HeartbeatRequest request;
    request.set_worker("workers/w");
    request.set_boot_id("boot-1");
    *request.add_leases()->mutable_lease() = Driver::RefOf(lease);
    request.mutable_leases(0)->set_log_tail(tail);
    return driver_->Call<v1::HeartbeatReply>(request);
  }
  absl::StatusOr<v1::BackupReply> BackUp(const std::string& label,
                                         const std::string& request_id) {
    v1::BackupRequest request;
    request.set_request_id(request_id);
    request.set_label(label);
    return driver_->Call<v1::BackupReply>(request);
  }

  const TempFolder folder_;
  FakeClock clock_;
  std::unique_ptr<storage::TrialStore> store_;
  std::unique_ptr<Driver> driver_;
};

TEST_F(OperationsTest, TheLogOfARunningTrialIsFetchedFromItsWorker) {
  const v1::Lease lease = Begin();
  auto log = AskLog(lease.trial());
  ASSERT_OK(driver_->GetStudy("a"));  // the call is parked now
  EXPECT_THAT(Beat(lease, "")->want_log(), ElementsAre(lease.trial()));
  EXPECT_THAT(Beat(lease, "epoch 1\nepoch 2\n")->want_log(), IsEmpty());
  const auto reply = log.get();
  EXPECT_EQ(reply->tail(), "epoch 1\nepoch 2\n");
  EXPECT_TRUE(reply->live());
  EXPECT_EQ(reply->attempt(), 1);
}

TEST_F(OperationsTest, ALogThatDoesNotComeIsAnsweredEmptyWhenTheWaitIsOver) {
  const v1::Lease lease = Begin();
  auto log = AskLog(lease.trial());
  ASSERT_OK(driver_->GetStudy("a"));  // the call is parked now
  clock_.Advance(seconds(21));
  const auto reply = log.get();
  ASSERT_OK(reply);
  EXPECT_EQ(reply->tail(), "");
  EXPECT_FALSE(reply->live());
}

TEST_F(OperationsTest, TheLogOfAFailedAttemptIsKeptAndCutAtALine) {
  const v1::Lease lease = Begin();
  v1::FinishRequest finish;
  *finish.mutable_lease() = Driver::RefOf(lease);
  finish.mutable_outcome()->set_kind(v1::Outcome::FAILED);
  finish.mutable_outcome()->set_log_tail("step 1\nstep 2\nTraceback\n");
  ASSERT_OK(driver_->Call<v1::FinishReply>(finish));
  Open({});  // also after a restart
  EXPECT_EQ(AskLog(lease.trial(), 1).get()->tail(),
            "step 1\nstep 2\nTraceback\n");
  EXPECT_EQ(AskLog(lease.trial(), 1, 13).get()->tail(), "Traceback\n");
  EXPECT_THAT(AskLog(lease.trial(), 2).get(),
              FailsWith(ErrorId::kTrialNotFound));
}

TEST_F(OperationsTest, ABackupIsMadeOncePerRequestAndCanBeRestored) {
  ASSERT_OK(driver_->Finish(Begin(), 0.5));
  const std::string id = RandomHexId();
  const auto made = BackUp("monday.sqlite", id);
  ASSERT_OK(made);
  EXPECT_EQ(made->file(), "monday.sqlite");
  EXPECT_EQ(made->studies(), 1);
  const auto again = BackUp("monday.sqlite", id);
  EXPECT_EQ(again->SerializeAsString(), made->SerializeAsString());
  EXPECT_THAT(BackUp("monday.sqlite", RandomHexId()),
              FailsWith(ErrorId::kStoreUnwritable));

  ASSERT_OK(storage::RestoreStore(folder_.File("backups/monday.sqlite"),
                                  folder_.File("restored")));
  const auto restored =
      storage::OpenStore({.data_folder = folder_.File("restored")});
  EXPECT_EQ((*restored)->FindTrial(1, 0)->values, std::vector<double>{0.5});
}

TEST_F(OperationsTest, ABackupWithoutALabelIsNamedByTheTime) {
  const auto made = BackUp("", RandomHexId());
  ASSERT_OK(made);
  EXPECT_EQ(made->file(), "frostline-20260101T000000Z.sqlite");
  EXPECT_THAT(BackUp("../escape", RandomHexId()),
              FailsAt(ErrorId::kNameInvalid, "label"));
}

TEST_F(OperationsTest, ARetryGoesOnFromTheLastCheckpoint) {
  const v1::Lease lease = Begin();
  v1::FinishRequest finish;
  *finish.mutable_lease() = Driver::RefOf(lease);
  finish.mutable_outcome()->set_kind(v1::Outcome::INFEASIBLE);
  finish.mutable_outcome()->mutable_checkpoint()->set_id("0.1.last");
  ASSERT_OK(driver_->Call<v1::FinishReply>(finish));
  v1::RetryTrialRequest retry;
  retry.set_request_id(RandomHexId());
  retry.set_name(lease.trial());
  retry.set_from_checkpoint(true);
  const auto retried = driver_->Call<v1::Trial>(retry);
  ASSERT_OK(retried);
  Open({});  // what it goes on from is on disk
  ASSERT_OK(driver_->Register("w", "boot-1"));
  const v1::Lease again = driver_->AcquireOne("w", "boot-1");
  EXPECT_EQ(again.trial(), retried->name());
  EXPECT_EQ(again.resume_from().id(), "0.1.last");
}

TEST_F(OperationsTest, OnANearlyFullDiskRunningTrialsEndAndNothingBegins) {
  const v1::Lease lease = Begin();
  Open({.no_new_studies_bytes = std::int64_t{1} << 60,
        .no_new_leases_bytes = std::int64_t{1} << 60});
  ASSERT_OK(driver_->Register("v", "boot-1"));
  v1::AcquireRequest acquire = Driver::AcquireOf("v", "boot-1");
  acquire.clear_wait();
  EXPECT_EQ(driver_->StartAcquire(acquire).get()->none_reason(),
            v1::DISK_NEARLY_FULL);
  EXPECT_THAT(driver_->Call<v1::CreateStudyReply>(ExampleStudy("b", 5)),
              FailsWith(ErrorId::kStoreFull));
  v1::ExplainStudyRequest explain;
  explain.set_name("studies/a");
  EXPECT_EQ(driver_->Call<v1::ExplainStudyReply>(explain)->reasons(0).code(),
            "DISK_NEARLY_FULL");
  EXPECT_OK(driver_->Finish(lease, 0.5));
}

TEST_F(OperationsTest, ARunningTrialTellsItsProgress) {
  const v1::Lease lease = Begin();
  v1::HeartbeatRequest beat;
  beat.set_worker("workers/w");
  beat.set_boot_id("boot-1");
  v1::LeaseProgress* const progress = beat.add_leases();
  *progress->mutable_lease() = Driver::RefOf(lease);
  progress->set_step(120);
  progress->set_total_steps(1000);
  progress->mutable_since_step()->set_seconds(14);
  ASSERT_OK(driver_->Call<v1::HeartbeatReply>(beat));
  v1::ExplainStudyRequest explain;
  explain.set_name("studies/a");
  explain.set_trial_number(0);
  EXPECT_THAT(
      driver_->Call<v1::ExplainStudyReply>(explain)->reasons(0).sentence(),
      EndsWith("step 120 of 1000, 14 s ago"));
}

// Who ends is not listed until its silence is long enough.
TEST_F(OperationsTest, AWorkerThatLeavesIsForgotten) {
  const v1::Lease lease = Begin();
  v1::HeartbeatRequest last;
  last.set_worker("workers/w");
  last.set_boot_id("boot-1");
  last.set_leaving(true);
  const auto listed = [&] {
    return driver_->Call<v1::ListWorkersReply>(v1::ListWorkersRequest())
        ->workers_size();
  };
  ASSERT_OK(driver_->Call<v1::HeartbeatReply>(last));
  EXPECT_EQ(listed(), 1) << "it still holds a trial";
  EXPECT_OK(driver_->Finish(lease, 0.5));
  ASSERT_OK(driver_->Call<v1::HeartbeatReply>(last));
  EXPECT_EQ(listed(), 0);
  EXPECT_THAT(driver_->Call<v1::HeartbeatReply>(last),
              FailsWith(ErrorId::kWorkerUnknown));
}

TEST_F(OperationsTest, ADrainedWorkerThatLeavesStaysDrained) {
  EXPECT_OK(driver_->Finish(Begin(), 0.5));
  v1::DrainWorkerRequest drain;
  drain.set_request_id("drain-1");
  drain.set_worker("workers/w");
  ASSERT_OK(driver_->Call<v1::Worker>(drain));
  v1::HeartbeatRequest last;
  last.set_worker("workers/w");
  last.set_boot_id("boot-1");
  last.set_leaving(true);
  ASSERT_OK(driver_->Call<v1::HeartbeatReply>(last));
  const auto listed =
      driver_->Call<v1::ListWorkersReply>(v1::ListWorkersRequest());
  ASSERT_EQ(listed->workers_size(), 1);
  EXPECT_EQ(listed->workers(0).state(), v1::WORKER_STATE_DRAINING);
}

}  // namespace
}  // namespace frostline::server
