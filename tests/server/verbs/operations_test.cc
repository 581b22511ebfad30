// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <future>
#include <optional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/verbs/log_verbs.h"
#include "storage/factory.h"
#include "tests/server/counting_fixture.h"
#include "tests/server/driver.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;

// What operators and the curious ask for: logs, backups, retries from a
// checkpoint, and what happens when the disk runs out.

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

// Logs: a worker that listens is told at once who wants one, and what is told
// of a running one costs no write. What is kept of an ended one is kept of all.

template <typename T>
bool IsThere(const std::future<T>& answer) {
  return answer.wait_for(seconds(10)) == std::future_status::ready;
}
template <typename T>
bool Waits(const std::future<T>& answer) {
  return answer.wait_for(milliseconds(0)) != std::future_status::ready;
}

class LogTest : public CountingFixture {
 protected:
  using Listening = std::future<absl::StatusOr<v1::ListenReply>>;
  using FutureLog = std::future<absl::StatusOr<v1::GetTrialLogReply>>;

  void SetUp() override {
    CountingFixture::SetUp();
    lease_ = Begin("boot-1");
  }
  v1::Lease Begin(const std::string& boot_id) {
    v1::RegisterRequest request;
    request.set_request_id(RandomHexId());
    request.set_worker_id("w");
    request.mutable_worker()->set_boot_id(boot_id);
    request.mutable_worker()->set_slots(1);
    request.mutable_worker()->mutable_hardware()->set_host("node7");
    request.mutable_worker()->set_run_folder("/runs");
    EXPECT_OK(driver_->Call<v1::RegisterReply>(request));
    return driver_->AcquireOne("w", boot_id);
  }
  // Until what was asked before has come to its place.
  void Settle() { ASSERT_OK(driver_->GetStudy("a")); }

  Listening Listen(const std::string& seen = "", int wait_s = 20) {
    v1::ListenRequest request;
    request.set_worker("workers/w");
    request.set_boot_id("boot-1");
    request.set_seen(seen);
    request.mutable_wait()->set_seconds(wait_s);
    auto answer = driver_->Start<v1::ListenReply>(request);
    Settle();
    return answer;
  }
  FutureLog Ask(std::optional<std::int64_t> after = {},
                std::int64_t attempt = 0) {
    v1::GetTrialLogRequest request;
    request.set_name(lease_.trial());
    request.set_attempt(attempt);
    if (after.has_value()) request.set_after(*after);
    request.mutable_wait()->set_seconds(20);
    auto answer = driver_->Start<v1::GetTrialLogReply>(request);
    Settle();
    return answer;
  }
  absl::StatusOr<v1::HeartbeatReply> Send(const std::string& tail,
                                          std::int64_t end) {
    v1::HeartbeatRequest request;
    request.set_worker("workers/w");
    request.set_boot_id("boot-1");
    v1::LeaseProgress& progress = *request.add_leases();
    *progress.mutable_lease() = Driver::RefOf(lease_);
    progress.set_log_tail(tail);
    progress.set_log_end(end);
    return driver_->Call<v1::HeartbeatReply>(request);
  }
  static v1::LogPlace Place(bool kept, std::int64_t end) {
    v1::LogPlace place;
    place.set_host("node7");
    place.set_path("/runs/trials/a/0/1.log");
    place.set_kept(kept);
    place.set_end(end);
    return place;
  }
  absl::Status Finish(v1::Outcome::Kind kind, const std::string& tail,
                      bool kept) {
    v1::FinishRequest finish;
    *finish.mutable_lease() = Driver::RefOf(lease_);
    finish.mutable_outcome()->set_kind(kind);
    (*finish.mutable_outcome()->mutable_metrics())["accuracy"] = 0.5;
    finish.mutable_outcome()->set_log_tail(tail);
    *finish.mutable_log_place() =
        Place(kept, static_cast<std::int64_t>(tail.size()));
    return driver_->Call<v1::FinishReply>(finish).status();
  }

  v1::Lease lease_;
};

TEST_F(LogTest, AWorkerThatListensHearsOfAWishAtOnceAndOfEachOnce) {
  Listening listening = Listen();
  EXPECT_TRUE(Waits(listening));
  FutureLog asked = Ask();
  ASSERT_TRUE(IsThere(listening));
  const auto heard = listening.get();
  ASSERT_OK(heard);
  ASSERT_EQ(heard->wishes_size(), 1);
  EXPECT_EQ(heard->wishes(0).trial(), lease_.trial());
  EXPECT_EQ(heard->wishes(0).attempt(), 1);
  EXPECT_FALSE(heard->wishes(0).has_after());
  Listening again = Listen(heard->seen());
  EXPECT_TRUE(Waits(again));
  ASSERT_OK(Send("epoch 1\n", 8));
  ASSERT_TRUE(IsThere(asked));
  const auto log = asked.get();
  EXPECT_EQ(log->tail(), "epoch 1\n");
  EXPECT_TRUE(log->live());
  EXPECT_EQ(log->state(), v1::ATTEMPT_STATE_RUNNING);
  EXPECT_EQ(log->worker(), "workers/w");
  EXPECT_EQ(log->place().host(), "node7");
  EXPECT_EQ(log->place().path(), "/runs/trials/a/0/1.log");
  EXPECT_EQ(log->place().end(), 8);
  EXPECT_TRUE(Waits(again));
}

TEST_F(LogTest, AWishThatCameWhileNobodyListenedIsHeardAtTheNextCall) {
  FutureLog asked = Ask();
  Listening listening = Listen();
  ASSERT_TRUE(IsThere(listening));
  EXPECT_EQ(listening.get()->wishes_size(), 1);
  // A worker that was told by another coordinator knows nothing of this one.
  Listening stranger = Listen("0123456789abcdef.1000");
  ASSERT_TRUE(IsThere(stranger));
  EXPECT_EQ(stranger.get()->wishes_size(), 1);
  EXPECT_TRUE(Waits(asked));
}

TEST_F(LogTest, AnEmptyLogIsAnAnswer) {
  FutureLog asked = Ask();
  ASSERT_OK(Send("", 0));
  ASSERT_TRUE(IsThere(asked));
  EXPECT_TRUE(asked.get()->live());
}

TEST_F(LogTest, WhoFollowsWaitsForWhatIsNewAndGetsNoMore) {
  Listening listening = Listen();
  FutureLog follower = Ask(8);
  ASSERT_TRUE(IsThere(listening));
  EXPECT_EQ(listening.get()->wishes(0).after(), 8);
  FutureLog viewer = Ask();
  ASSERT_OK(Send("epoch 1\n", 8));
  ASSERT_TRUE(IsThere(viewer));
  EXPECT_TRUE(Waits(follower));
  ASSERT_OK(Send("epoch 1\nepoch 2\n", 16));
  ASSERT_TRUE(IsThere(follower));
  const auto log = follower.get();
  EXPECT_EQ(log->tail(), "epoch 2\n");
  EXPECT_EQ(log->place().end(), 16);
}

TEST_F(LogTest, AskingAndListeningWriteNothing) {
  FutureLog first = Ask();
  ASSERT_OK(Send("epoch 1\n", 8));  // the first beat notes the worker
  ASSERT_TRUE(IsThere(first));
  store_->TakeBegins();
  for (int round = 1; round <= 20; ++round) {
    Listening listening = Listen();
    FutureLog asked = Ask();
    ASSERT_TRUE(IsThere(listening));
    ASSERT_OK(Send("epoch 1\n", 8));
    ASSERT_TRUE(IsThere(asked));
  }
  EXPECT_EQ(store_->TakeBegins(), 0);
}

TEST_F(LogTest, AWorkerHasOneCallThatListens) {
  Listening earlier = Listen();
  Listening later = Listen();
  ASSERT_TRUE(IsThere(earlier));
  EXPECT_EQ(earlier.get()->wishes_size(), 0);
  EXPECT_TRUE(Waits(later));
  clock_.Advance(seconds(21));
  ASSERT_TRUE(IsThere(later));
  EXPECT_EQ(later.get()->wishes_size(), 0);
}

TEST_F(LogTest, OnlyAWorkerOfThisLifeMayListen) {
  v1::ListenRequest request;
  request.set_worker("workers/w");
  request.set_boot_id("boot-0");
  EXPECT_THAT(driver_->Call<v1::ListenReply>(request),
              FailsWith(ErrorId::kWorkerUnknown));
}

TEST_F(LogTest, WhoWaitsIsAnsweredFromTheStoreAsSoonAsTheTrialEnds) {
  FutureLog follower = Ask(8);
  ASSERT_OK(Finish(v1::Outcome::SUCCEEDED, "epoch 1\nepoch 2\n", false));
  ASSERT_TRUE(IsThere(follower));
  const auto log = follower.get();
  EXPECT_EQ(log->tail(), "epoch 2\n");
  EXPECT_FALSE(log->live());
  EXPECT_EQ(log->state(), v1::ATTEMPT_STATE_COMPLETED);
}

TEST_F(LogTest, TheLogOfATrialThatSucceededIsKeptWithItsPlace) {
  ASSERT_OK(Finish(v1::Outcome::SUCCEEDED, "epoch 1\n", false));
  const auto log = Ask().get();
  EXPECT_EQ(log->tail(), "epoch 1\n");
  EXPECT_EQ(log->worker(), "workers/w");
  EXPECT_EQ(log->place().host(), "node7");
  EXPECT_EQ(log->place().path(), "/runs/trials/a/0/1.log");
  ASSERT_TRUE(log->place().has_kept());
  EXPECT_FALSE(log->place().kept());
}

TEST_F(LogTest, TheLogOfAnAttemptThatWasHandedBackIsKept) {
  v1::ReleaseRequest release;
  *release.mutable_lease() = Driver::RefOf(lease_);
  release.set_reason(v1::ReleaseRequest::PREEMPTED);
  release.set_log_tail("epoch 1\n");
  *release.mutable_log_place() = Place(true, 8);
  ASSERT_OK(driver_->Call<v1::ReleaseReply>(release));
  const auto log = Ask({}, 1).get();
  EXPECT_EQ(log->tail(), "epoch 1\n");
  EXPECT_EQ(log->state(), v1::ATTEMPT_STATE_PREEMPTED);
  EXPECT_TRUE(log->place().kept());
  // The next attempt's end clears it away with its own.
  lease_ = driver_->AcquireOne("w", "boot-1");
  ASSERT_EQ(lease_.attempt(), 2);
  ASSERT_OK(Finish(v1::Outcome::SUCCEEDED, "epoch 2\n", false));
  const auto first = Ask({}, 1).get();
  EXPECT_EQ(first->tail(), "epoch 1\n");
  EXPECT_FALSE(first->place().kept());
}

TEST_F(LogTest, AnAttemptWhoseAgentDiedHasWhatItLeftAndOthersNothing) {
  v1::RegisterRequest request;
  request.set_request_id(RandomHexId());
  request.set_worker_id("w");
  request.mutable_worker()->set_boot_id("boot-2");
  request.mutable_worker()->set_slots(1);
  request.mutable_worker()->mutable_hardware()->set_host("node7");
  request.mutable_worker()->set_run_folder("/runs");
  v1::LeftLog& forged = *request.add_left_logs();
  *forged.mutable_lease() = Driver::RefOf(lease_);
  forged.mutable_lease()->set_secret("stolen");
  forged.set_tail("forged\n");
  ASSERT_OK(driver_->Call<v1::RegisterReply>(request));
  const auto lost = Ask({}, 1).get();
  EXPECT_EQ(lost->tail(), "");
  EXPECT_EQ(lost->state(), v1::ATTEMPT_STATE_LOST);
  EXPECT_EQ(lost->place().path(), "/runs/trials/a/0/1.log");
  EXPECT_FALSE(lost->place().has_kept());

  lease_ = driver_->AcquireOne("w", "boot-2");
  request.mutable_worker()->set_boot_id("boot-3");
  *request.mutable_left_logs(0)->mutable_lease() = Driver::RefOf(lease_);
  request.mutable_left_logs(0)->set_tail("last words\n");
  ASSERT_OK(driver_->Call<v1::RegisterReply>(request));
  const auto left = Ask({}, 2).get();
  EXPECT_EQ(left->tail(), "last words\n");
  EXPECT_EQ(left->state(), v1::ATTEMPT_STATE_LOST);
}

TEST_F(LogTest, AnAttemptThatNeverWasIsSaidSo) {
  const auto log = Ask({}, 9).get();
  ASSERT_THAT(log, FailsWith(ErrorId::kTrialNotFound));
  EXPECT_THAT(std::string(log.status().message()),
              ::testing::HasSubstr("has no attempt 9, only 1"));
}

TEST(LogText, IsCutByWhatWasReadAndByLines) {
  EXPECT_EQ(TextAfter("cdef", 6, std::nullopt), "cdef");
  EXPECT_EQ(TextAfter("cdef", 6, 4), "ef");
  EXPECT_EQ(TextAfter("cdef", 6, 1), "cdef");  // b was cut away
  EXPECT_EQ(TextAfter("cdef", 6, 6), "");
  EXPECT_EQ(TextAfter("cdef", 6, 9), "");
  EXPECT_EQ(TextAfter("cdef", 0, 9), "cdef");  // its end is not known
  EXPECT_EQ(LastBytes("one\ntwo\n", 6), "two\n");
  EXPECT_EQ(LastBytes("one\ntwo\n", 8), "one\ntwo\n");
}

v1::ListenReply OneWish() {
  v1::ListenReply wish;
  wish.add_wishes();
  return wish;
}

TEST(LogWishes, AreForgottenWithTheCallsThatWait) {
  LogWishes wishes;
  const std::string first = wishes.Add("w", OneWish());
  const std::string second = wishes.Add("w", OneWish());
  EXPECT_FALSE(wishes.HasMore("v", ""));
  EXPECT_EQ(wishes.Since("w", "").wishes_size(), 2);
  wishes.Drop("w", second);
  const std::string seen = wishes.Since("w", "").seen();
  EXPECT_TRUE(wishes.HasMore("w", ""));
  EXPECT_FALSE(wishes.HasMore("w", seen));
  wishes.Drop("w", first);
  EXPECT_FALSE(wishes.HasMore("w", ""));
  wishes.Add("w", OneWish());
  EXPECT_TRUE(wishes.HasMore("w", seen));
}

}  // namespace
}  // namespace frostline::server
