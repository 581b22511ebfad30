// SPDX-License-Identifier: Apache-2.0
//
// Logs: a worker that listens is told at once who wants one, and what is told
// of a running one costs no write. What is kept of an ended one is kept of all.
#include <future>
#include <optional>

#include "gmock/gmock.h"
#include "server/verbs/log_verbs.h"
#include "tests/server/counting_fixture.h"

namespace frostline::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

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
  using Asked = std::future<absl::StatusOr<v1::GetTrialLogReply>>;

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
  Asked Ask(std::optional<std::int64_t> after = {}, std::int64_t attempt = 0) {
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
  Asked asked = Ask();
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
  Asked asked = Ask();
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
  Asked asked = Ask();
  ASSERT_OK(Send("", 0));
  ASSERT_TRUE(IsThere(asked));
  EXPECT_TRUE(asked.get()->live());
}

TEST_F(LogTest, WhoFollowsWaitsForWhatIsNewAndGetsNoMore) {
  Listening listening = Listen();
  Asked follower = Ask(8);
  ASSERT_TRUE(IsThere(listening));
  EXPECT_EQ(listening.get()->wishes(0).after(), 8);
  Asked viewer = Ask();
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
  Asked first = Ask();
  ASSERT_OK(Send("epoch 1\n", 8));  // the first beat notes the worker
  ASSERT_TRUE(IsThere(first));
  store_->TakeBegins();
  for (int round = 1; round <= 20; ++round) {
    Listening listening = Listen();
    Asked asked = Ask();
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
  Asked follower = Ask(8);
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
