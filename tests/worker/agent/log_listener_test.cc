// SPDX-License-Identifier: Apache-2.0
//
// A log that somebody wants is pushed at once. The regular beat of these tests
// would come after ten minutes, so each beat but the first is for a log.
#include "worker/agent/link/log_listener.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "gmock/gmock.h"
#include "tests/support/temp_folder.h"
#include "tests/worker/agent/scripted_coordinator.h"

namespace frostline::agent {
namespace {

using std::chrono::minutes;

std::vector<v1::LeaseProgress> LogsOf(const Heard& heard) {
  std::vector<v1::LeaseProgress> logs;
  for (const auto& beat : heard.heartbeats) {
    for (const auto& lease : beat.leases()) {
      if (lease.has_log_end()) logs.push_back(lease);
    }
  }
  return logs;
}

class LogListenerTest : public ::testing::Test {
 protected:
  LogListenerTest() {
    keeper_.Start(minutes(10));
    listener_.Start();
  }
  ~LogListenerTest() override { client_.CancelAll(); }

  void Hold(int number) {
    v1::Lease lease = ScriptedCoordinator::LeaseOf(number);
    lease.clear_heartbeat_interval();
    held_ = std::make_shared<HeldLease>(
        lease, RenewalWatch(minutes(1), minutes(1), clock_.Steady()), clock_,
        wakeup_, log_);
    keeper_.Hold(held_, /*hurries=*/true);
  }
  bool AwaitLogs(std::size_t count) {
    return coordinator_.Await(
        [count](const Heard& heard) { return LogsOf(heard).size() >= count; });
  }
  bool AwaitListens(std::size_t count) {
    return coordinator_.Await(
        [count](const Heard& heard) { return heard.listens.size() >= count; });
  }
  v1::LeaseProgress Last() { return LogsOf(coordinator_.heard()).back(); }

  ScriptedCoordinator coordinator_;
  RpcClient client_{coordinator_.address()};
  SystemClock clock_;
  Wakeup wakeup_;
  LogTail log_;
  std::atomic<std::size_t> answered_{0};
  std::shared_ptr<HeldLease> held_;
  LeaseKeeper keeper_{client_,
                      clock_,
                      "workers/w",
                      "boot",
                      {.heard = [this] { ++answered_; },
                       .unknown = [](SteadyTime) {},
                       .holds = [this] { listener_.Ring(); }}};
  TempFolder runs_;  // with no predictions in it
  LogListener listener_{client_,     clock_, keeper_, runs_.path().string(),
                        "workers/w", "boot"};
};

TEST_F(LogListenerTest, ALogThatSomebodyWantsIsPushed) {
  coordinator_.HearListeners();
  log_.Append("epoch 1\n");
  Hold(1);
  for (std::size_t ask = 1; ask <= 5; ++ask) {
    coordinator_.Wish(1);
    ASSERT_TRUE(AwaitLogs(ask));
    EXPECT_EQ(Last().log_tail(), "epoch 1\n");
    EXPECT_EQ(Last().log_end(), 8);
  }
  // One beat for each, besides the first.
  EXPECT_LE(coordinator_.heard().heartbeats.size(), 7U);
}

TEST_F(LogListenerTest, WhoFollowsGetsNewLinesWhenTheyComeAndNoBeatBefore) {
  coordinator_.HearListeners();
  log_.Append("epoch 1\n");
  Hold(1);
  coordinator_.Wish(1, 8);
  ASSERT_TRUE(AwaitListens(2));  // it has heard of it
  const std::size_t beats = coordinator_.heard().heartbeats.size();
  EXPECT_TRUE(LogsOf(coordinator_.heard()).empty());
  log_.Append("epoch 2\n");
  ASSERT_TRUE(AwaitLogs(1));
  EXPECT_EQ(Last().log_tail(), "epoch 2\n");
  EXPECT_EQ(Last().log_end(), 16);
  EXPECT_LE(coordinator_.heard().heartbeats.size(), beats + 2);
}

TEST_F(LogListenerTest, WithoutALeaseNobodyListens) {
  coordinator_.HearListeners();
  EXPECT_FALSE(keeper_.HoldsAny());
  Hold(1);
  ASSERT_TRUE(AwaitListens(1));
  keeper_.LetGo(held_);
  coordinator_.Wish(1);  // answers the call, and no other follows
  EXPECT_FALSE(keeper_.HoldsAny());
  EXPECT_EQ(coordinator_.heard().listens.size(), 1U);
}

TEST_F(LogListenerTest, ACoordinatorOfAnEarlierVersionAsksByHeartbeats) {
  coordinator_.WantLogs();
  log_.Append("epoch 1\n");
  Hold(1);
  ASSERT_TRUE(AwaitLogs(2));
  EXPECT_LE(coordinator_.heard().listens.size(), 2U);
}

TEST_F(LogListenerTest, WhatHeartbeatsAskForIsNotSentTwice) {
  coordinator_.HearListeners();
  log_.Append("epoch 1\n");
  Hold(1);
  coordinator_.Wish(1);
  ASSERT_TRUE(AwaitLogs(1));
  coordinator_.WantLogs();
  coordinator_.Wish(1);
  ASSERT_TRUE(AwaitLogs(2));
  while (answered_ < coordinator_.heard().heartbeats.size()) {
    std::this_thread::yield();
  }
  EXPECT_FALSE(held_->LogDue().has_value());
}

TEST_F(LogListenerTest, AfterACoordinatorCameBackItKnowsNothingOfTheOld) {
  coordinator_.HearListeners();
  Hold(1);
  coordinator_.Wish(1);
  ASSERT_TRUE(AwaitLogs(1));
  ASSERT_TRUE(AwaitListens(2));  // it waits again, so it sees the other go
  coordinator_.GoAway();
  coordinator_.ComeBack();
  // All wishes of before are told again, since nothing counts as seen.
  EXPECT_TRUE(AwaitLogs(2));
}

}  // namespace
}  // namespace frostline::agent
