// SPDX-License-Identifier: Apache-2.0
//
// Somebody sets the clock of the coordinator's machine, by an hour or a year,
// forth and back. Leases must not notice. Needs libfaketime.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/fault/harness.h"

namespace frostline::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kLibraries[] = {
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/faketime/libfaketimeMT.so.1"};
constexpr const char* kJumps[] = {"+1h", "-1h", "+1y", "-1y", "+0"};

class ClockTest : public FaultTest {
 protected:
  void SetUp() override {
    for (const char* const library : kLibraries) {
      if (std::filesystem::exists(library)) library_ = library;
    }
    if (library_.empty()) {
      GTEST_SKIP() << "libfaketime is missing: install the package faketime";
    }
    Jump("+0");
  }

  // Written aside and renamed: the library reads it at any moment.
  void Jump(const std::string& offset) {
    const std::string file = folder_.File("clock");
    std::ofstream(file + ".new") << offset << "\n";
    std::filesystem::rename(file + ".new", file);
    if (offset != "+0") ++record_["jumps"];
  }

  void BootWithFakeClock(const Words& options, bool monotonic_too) {
    Words environment = {"LD_PRELOAD=" + library_,
                         "FAKETIME_TIMESTAMP_FILE=" + folder_.File("clock"),
                         "FAKETIME_NO_CACHE=1"};
    if (!monotonic_too) {
      environment.push_back("FAKETIME_DONT_FAKE_MONOTONIC=1");
    }
    Boot(options, environment);
  }

  // When the coordinator believes a study of now was created, in days from now.
  double DaysAhead() {
    Create("date", 1);
    const auto study = admin_->GetStudy("studies/date");
    EXPECT_OK(study);
    const double now = static_cast<double>(clock_.Wall()) / 1e6;
    return (static_cast<double>(study->create_time().seconds()) - now) / 86400;
  }

  std::string library_;
};

TEST_F(ClockTest, TheCoordinatorBelievesIt) {
  BootWithFakeClock(ShortLeases(), false);
  Jump("+1y");
  EXPECT_NEAR(DaysAhead(), 365, 1);
}

TEST_F(ClockTest, NoLeaseEndsEarlyWhenTheDateIsSet) {
  BootWithFakeClock({"--lease-ttl", "10s"}, false);
  const std::string study = Create("s", FaultCount(60, 6'000));
  bench::LoadOptions fleet = Fleet(study, 10);
  fleet.think = milliseconds(150);
  bench::LoadRun run(fleet, clock_);
  run.Start();
  for (std::size_t i = 0; !run.Wait(milliseconds(200)) && (i < 100 || IsLong());
       ++i) {
    Jump(kJumps[i % std::size(kJumps)]);
  }
  ExpectCompleted(run, study, Patience());
  const auto stored = admin_->ReadStudy(study, false);
  ASSERT_OK(stored);
  for (const bench::StoredTrial& trial : stored->trials) {
    EXPECT_EQ(trial.trial.attempts_size(), 1) << trial.trial.name();
  }
}

TEST_F(ClockTest, NoLeaseOutlivesItsTimeWhenTheDateIsSetBack) {
  for (const char* const jump : {"-1y", "-1h", "+1y"}) {
    BootWithFakeClock(ShortLeases(), false);
    const std::string study = Create(std::string("s") + jump[1], 1);
    bench::LoadOptions stuck = Fleet(study, 1);
    stuck.think = seconds(1000);
    stuck.worker_prefix = "stuck";
    bench::LoadRun first(stuck, clock_);
    first.Start();
    ASSERT_TRUE(Eventually([&first] { return first.held() == 1; }));
    first.Stop();  // without a word
    Jump(jump);
    bench::LoadRun second(Fleet(study, 1), clock_);
    second.Start();
    ASSERT_TRUE(second.Wait(seconds(30))) << jump;
    second.Stop();
    ASSERT_OK_AND_ASSIGN(const v1::Study ended, admin_->GetStudy(study));
    EXPECT_EQ(ended.counts().succeeded(), 1);
    Jump("+0");
    coordinator_->Kill();
    std::filesystem::remove_all(folder_.File("data"));
  }
}

TEST_F(ClockTest, NothingIsLostWhenEveryClockJumps) {
  BootWithFakeClock(ShortLeases(), true);
  const std::string study = Create("s", 60);
  bench::LoadOptions fleet = Fleet(study, 10);
  fleet.think = milliseconds(50);
  bench::LoadRun run(fleet, clock_);
  run.Start();
  for (const char* const jump : {"+1h", "+2h", "+1y"}) {
    run.Wait(milliseconds(300));
    Jump(jump);
  }
  ExpectCompleted(run, study);
}

}  // namespace
}  // namespace frostline::test
