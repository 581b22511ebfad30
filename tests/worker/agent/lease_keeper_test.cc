// SPDX-License-Identifier: Apache-2.0
//
// Logs that somebody wants to see ride on heartbeats. The regular beat of these
// tests would come after ten minutes.
#include "worker/agent/lease_keeper.h"

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

}  // namespace
}  // namespace frostline::agent
