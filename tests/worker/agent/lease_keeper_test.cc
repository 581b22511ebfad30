// SPDX-License-Identifier: Apache-2.0
//
// Logs that somebody wants to see ride on heartbeats. The regular beat of these
// tests would come after ten minutes.
#include "worker/agent/link/lease_keeper.h"

#include <algorithm>
#include <set>

#include "gmock/gmock.h"
#include "tests/worker/agent/scripted_coordinator.h"

namespace frostline::agent {
namespace {

using std::chrono::minutes;

constexpr std::size_t kMaxRequest = std::size_t{1} << 20;

class LogTails : public ::testing::Test {
 protected:
  LogTails() { keeper_.Start(minutes(10)); }

  // The last of them with a beat for all.
  void Hold(int count) {
    log_.Append(std::string(kMaxLogTailBytes, 'x'));
    for (int number = 1; number <= count; ++number) {
      v1::Lease lease = ScriptedCoordinator::LeaseOf(number);
      lease.clear_heartbeat_interval();
      keeper_.Hold(
          std::make_shared<HeldLease>(
              lease, RenewalWatch(minutes(1), minutes(1), clock_.Steady()),
              clock_, wakeup_, log_),
          number == count);
    }
  }
  static std::set<std::string> Told(const Heard& heard) {
    std::set<std::string> trials;
    for (const auto& beat : heard.heartbeats) {
      for (const auto& lease : beat.leases()) {
        if (!lease.log_tail().empty()) trials.insert(lease.lease().trial());
      }
    }
    return trials;
  }

  ScriptedCoordinator coordinator_;
  RpcClient client_{coordinator_.address()};
  SystemClock clock_;
  Wakeup wakeup_;
  LogTail log_;
  LeaseKeeper keeper_{
      client_, clock_, "workers/w", "boot", {[] {}, [](SteadyTime) {}}};
};

TEST_F(LogTails, ComePromptly) {
  coordinator_.WantLogs();
  Hold(1);
  EXPECT_TRUE(coordinator_.Await(
      [](const Heard& heard) { return !Told(heard).empty(); }));
}

TEST_F(LogTails, FitIntoARequestHoweverManyAreWanted) {
  coordinator_.WantLogs();
  Hold(25);
  EXPECT_TRUE(coordinator_.Await(
      [](const Heard& heard) { return Told(heard).size() == 25; }));
  for (const auto& beat : coordinator_.heard().heartbeats) {
    EXPECT_LT(beat.ByteSizeLong(), kMaxRequest);
  }
}

class Load : public ::testing::Test {
 protected:
  Load() { keeper_.Start(std::chrono::milliseconds(20)); }

  static int LoadsIn(const Heard& heard) {
    int loads = 0;
    for (const auto& beat : heard.heartbeats) loads += beat.has_load() ? 1 : 0;
    return loads;
  }

  ScriptedCoordinator coordinator_;
  RpcClient client_{coordinator_.address()};
  SystemClock clock_;
  LeaseKeeper keeper_{client_,
                      clock_,
                      "workers/w",
                      "boot",
                      {.heard = [] {},
                       .unknown = [](SteadyTime) {},
                       .load = [] { return v1::NodeLoad(); }}};
};

TEST_F(Load, RidesOnHeartbeats) {
  EXPECT_TRUE(coordinator_.Await(
      [](const Heard& heard) { return LoadsIn(heard) >= 3; }));
}

TEST_F(Load, IsNotToldAgainToACoordinatorThatDoesNotTakeIt) {
  coordinator_.Refuse("Heartbeat", ErrorId::kMethodNotBuilt);
  EXPECT_TRUE(coordinator_.Await([](const Heard& heard) {
    return heard.heartbeats.size() >= 5 && !heard.heartbeats.back().has_load();
  }));
  const auto beats = coordinator_.heard().heartbeats;
  const auto last = std::find_if(
      beats.rbegin(), beats.rend(),
      [](const v1::HeartbeatRequest& beat) { return beat.has_load(); });
  ASSERT_NE(last, beats.rend());
  ASSERT_NE(last, beats.rbegin());
  // The refused one came again at once, without it.
  EXPECT_EQ(std::prev(last)->sequence(), last->sequence());
}

class ProgressInHeartbeats : public ::testing::Test {
 protected:
  // Beats for a lease until it is taken down.
  void Beat(bool tells_progress) {
    keeper_ = std::make_unique<LeaseKeeper>(
        client_, clock_, "workers/w", "boot",
        LeaseKeeper::Hooks{.heard = [] {},
                           .unknown = [](SteadyTime) {},
                           .load = [] { return v1::NodeLoad(); },
                           .tells_progress = tells_progress});
    keeper_->Hold(std::make_shared<HeldLease>(
                      ScriptedCoordinator::LeaseOf(1),
                      RenewalWatch(minutes(1), minutes(1), clock_.Steady()),
                      clock_, wakeup_, log_),
                  false);
    keeper_->Start(std::chrono::milliseconds(20));
  }
  static bool IsToldIn(const v1::HeartbeatRequest& beat) {
    return beat.leases_size() > 0 && beat.leases(0).has_progress();
  }

  ScriptedCoordinator coordinator_;
  RpcClient client_{coordinator_.address()};
  SystemClock clock_;
  Wakeup wakeup_;
  LogTail log_;
  std::unique_ptr<LeaseKeeper> keeper_;
};

TEST_F(ProgressInHeartbeats, RidesOnHeartbeatsOfWhoeverTellsIt) {
  Beat(true);
  EXPECT_TRUE(coordinator_.Await([](const Heard& heard) {
    return !heard.heartbeats.empty() && IsToldIn(heard.heartbeats.back());
  }));
}

TEST_F(ProgressInHeartbeats, IsNotToldToACoordinatorThatDidNotAskForIt) {
  Beat(false);
  EXPECT_TRUE(coordinator_.Await(
      [](const Heard& heard) { return heard.heartbeats.size() >= 3; }));
  for (const auto& beat : coordinator_.heard().heartbeats) {
    EXPECT_FALSE(IsToldIn(beat));
  }
}

// One that takes loads and no progress has come back in place of a newer one.
TEST_F(ProgressInHeartbeats, IsLeftOutFirstWhereAHeartbeatIsRefused) {
  coordinator_.Refuse("Heartbeat", ErrorId::kMethodNotBuilt);
  Beat(true);
  EXPECT_TRUE(coordinator_.Await(
      [](const Heard& heard) { return heard.heartbeats.size() >= 3; }));
  const auto beats = coordinator_.heard().heartbeats;
  EXPECT_TRUE(IsToldIn(beats[0]));
  EXPECT_EQ(beats[1].sequence(), beats[0].sequence());
  for (std::size_t i = 1; i < beats.size(); ++i) {
    EXPECT_FALSE(IsToldIn(beats[i]));
    EXPECT_TRUE(beats[i].has_load());
  }
}

}  // namespace
}  // namespace frostline::agent
