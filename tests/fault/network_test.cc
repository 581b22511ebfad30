// SPDX-License-Identifier: Apache-2.0
//
// The same fleet in every weather a network has.
#include <chrono>
#include <thread>

#include "tests/fault/harness.h"
#include "tests/fault/tcp_proxy.h"

namespace frostline::test {
namespace {

using std::chrono::milliseconds;

class NetworkTest : public FaultTest {
 protected:
  // A fleet behind a proxy.
  std::unique_ptr<bench::LoadRun> StartFleet(
      std::int64_t trials, int workers, const Words& options = ShortLeases()) {
    Boot(options);
    proxy_ = std::make_unique<TcpProxy>(coordinator_->address());
    bench::LoadOptions fleet = Fleet(Create("s", trials), workers);
    fleet.connect = proxy_->address();
    fleet.patience = milliseconds(1500);
    fleet.wait = milliseconds(500);
    auto run = std::make_unique<bench::LoadRun>(fleet, clock_);
    run->Start();
    return run;
  }

  std::unique_ptr<TcpProxy> proxy_;
};

TEST_F(NetworkTest, LatencyOnlyCostsTime) {
  const auto run = StartFleet(100, 10);
  proxy_->Set({.latency = milliseconds(50)});
  ExpectCompleted(*run, "studies/s");
  EXPECT_TRUE(run->figures().errors().empty() ||
              run->figures().errors().size() == 1);  // the end cancels
}

TEST_F(NetworkTest, EveryReplyIsLostOnceAndNothingHappensTwice) {
  // Leases outlive the test: a grant that was forgotten is not hidden by them.
  const auto run =
      StartFleet(FaultCount(100, 20'000), 10, {"--lease-ttl", "60s"});
  proxy_->Set({.cuts_replies = true});
  ExpectCompleted(*run, "studies/s", Patience());
  record_["lost_replies"] = proxy_->cuts();
  // Four calls a trial, each answered twice.
  EXPECT_GT(proxy_->cuts(), 300);
  ASSERT_OK_AND_ASSIGN(const bench::StoredStudy stored,
                       admin_->ReadStudy("studies/s", false));
  for (const bench::StoredTrial& trial : stored.trials) {
    EXPECT_EQ(trial.trial.attempts_size(), 1) << trial.trial.name();
  }
}

TEST_F(NetworkTest, AHalfOpenConnectionIsLeftAndTheLeaseComesBack) {
  const int rounds = FaultCount(2, 50);
  const auto run = StartFleet(100 * rounds, 10);
  for (int i = 0; i < rounds && !run->Wait({}); ++i) {
    ++record_["half_open"];
    ASSERT_TRUE(Eventually([&run] { return run->held() > 0; }));
    proxy_->Set({.swallows_replies = true});
    std::this_thread::sleep_for(milliseconds(2200));
    proxy_->Set({});
    proxy_->ResetAll();
    std::this_thread::sleep_for(milliseconds(500));
  }
  ExpectCompleted(*run, "studies/s", Patience());
}

TEST_F(NetworkTest, AStallLongerThanALeaseIsSurvived) {
  const auto run = StartFleet(200, 10);
  ASSERT_TRUE(Eventually([&run] { return run->held() > 0; }));
  proxy_->Set({.stalled = true});
  record_["stalls"] = 1;
  std::this_thread::sleep_for(milliseconds(2200));
  proxy_->Set({});  // what was sent before arrives now
  ExpectCompleted(*run, "studies/s");
}

TEST_F(NetworkTest, BytesThatDripAreReadAsAny) {
  const auto run = StartFleet(12, 4);
  proxy_->Set({.drip = 3});
  ExpectCompleted(*run, "studies/s");
}

TEST_F(NetworkTest, ResetsAtRandomLoseNothing) {
  const auto run = StartFleet(FaultCount(300, 20'000), 10);
  int resets = 0;
  while (!run->Wait(milliseconds(70)) && resets < 100'000) {
    ++resets;
    proxy_->ResetAll();
  }
  record_["resets"] = resets;
  ExpectCompleted(*run, "studies/s", Patience());
  EXPECT_GT(resets, 5);
}

TEST_F(NetworkTest, ARealWorkerConnectsOverASlowLine) {
  Boot({"--lease-ttl", "60s"});
  TcpProxy slow(coordinator_->address());
  slow.Set({.latency = milliseconds(300)});
  bench::Program worker(
      {bench::BinaryPath("frostline-worker"), "--connect", slow.address(),
       "--id", "far", "--run-dir", folder_.File("far"), "--exec",
       bench::BinaryPath("frostline-demo-trainer")},
      {}, folder_.File("far.log"));
  worker.Start();
  EXPECT_TRUE(Eventually([this] {
    const auto fleet =
        admin_->Call(admin_->workers(), &v1::WorkerService::Stub::ListWorkers,
                     v1::ListWorkersRequest());
    return fleet.ok() && fleet->workers_size() == 1;
  })) << worker.Log();
  EXPECT_EQ(slow.connections(), 1);  // it was patient
}

}  // namespace
}  // namespace frostline::test
