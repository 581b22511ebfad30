// SPDX-License-Identifier: Apache-2.0
//
// Coordinators come and go: whoever lives keeps its trial, however long the
// outage, and whoever is gone does not keep it for ever.
#include <map>

#include "storage/factory.h"
#include "tests/server/driver.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr seconds kLease(60);
constexpr seconds kGrace(120);

class RestartGraceTest : public ::testing::Test {
 protected:
  RestartGraceTest()
      : store_(*storage::OpenStore({.data_folder = "", .ephemeral = true})) {
    Restart();
    EXPECT_OK(driver_->Call<v1::CreateStudyReply>(ExampleStudy("a", 100)));
  }

  void Restart() {
    driver_.reset();
    driver_ = std::make_unique<Driver>(*store_, clock_);
    ASSERT_OK(driver_->started());
  }
  // The worker takes a trial.
  void Begin(const std::string& worker) {
    ASSERT_OK(driver_->Register(worker, "boot-1"));
    leases_[worker] = driver_->AcquireOne(worker, "boot-1");
    ASSERT_NE(leases_[worker].trial(), "");
  }
  v1::Directive::Action Beat(const std::string& worker) {
    const auto reply = driver_->Heartbeat(worker, "boot-1", leases_.at(worker));
    return reply.ok() ? reply->directives(0).action()
                      : v1::Directive::ACTION_UNSPECIFIED;
  }
  // `living` beats all the while.
  void Pass(seconds time, const std::string& living = "") {
    for (seconds gone(0); gone < time; ++gone) {
      clock_.Advance(seconds(1));
      for (int i = 0; i < 2; ++i) (void)driver_->GetStudy("a");
      if (living.empty() || gone.count() % 15 != 5) continue;
      EXPECT_EQ(Beat(living), v1::Directive::CONTINUE);
    }
  }
  bool HasItsTrial(const std::string& worker) {
    const TrialName name = *ParseTrialName(leases_.at(worker).trial());
    const storage::TrialRow row = *store_->FindTrial(1, name.number);
    return row.state == TrialState::kRunning && row.attempt == 1;
  }

  FakeClock clock_;
  std::unique_ptr<storage::TrialStore> store_;
  std::unique_ptr<Driver> driver_;
  std::map<std::string, v1::Lease> leases_;  // by worker
};

TEST_F(RestartGraceTest, TenRestartsAMinuteApartDoNotKeepADeadWorkersTrial) {
  Begin("living");
  Begin("dead");
  Pass(seconds(30), "living");
  seconds kept(0);
  for (int restart = 0; restart < 10; ++restart) {
    Restart();
    Pass(seconds(30), "living");
    if (HasItsTrial("dead")) kept += seconds(30);
    Pass(seconds(30), "living");
    if (HasItsTrial("dead")) kept += seconds(30);
    EXPECT_TRUE(HasItsTrial("living")) << restart;
  }
  EXPECT_LE(kept, kLease + kGrace);
  EXPECT_GE(kept, kLease);
}

// However quick the loop is, half as much again is the most.
TEST_F(RestartGraceTest, NoPaceOfRestartsKeepsADeadWorkersTrial) {
  for (const int pace : {10, 25, 45, 90, 120, 170}) {
    SCOPED_TRACE(pace);
    Begin("living");
    Begin("dead");
    seconds kept(0);
    while (HasItsTrial("dead") && kept < seconds(1000)) {
      Restart();
      Pass(seconds(pace), pace > 10 ? "living" : "");
      kept += seconds(pace);
    }
    EXPECT_LE(kept, (kLease + kGrace) * 3 / 2 + seconds(pace));
  }
}

TEST_F(RestartGraceTest, AFleetComesBackAfterALongOutage) {
  Begin("w");
  Pass(seconds(600), "w");
  for (int outage = 0; outage < 5; ++outage) {
    driver_.reset();
    clock_.Advance(hours(24));
    Restart();
    Pass(seconds(170));  // of 180
    EXPECT_EQ(Beat("w"), v1::Directive::CONTINUE) << outage;
    Pass(seconds(100), "w");
  }
  EXPECT_TRUE(HasItsTrial("w"));
}

// A report renews the lease as a heartbeat does, so it is over a whole TTL
// later at the earliest, however many starts come between.
TEST_F(RestartGraceTest, WhoOnlyReportsIsHeardToo) {
  Begin("w");
  Pass(seconds(1));
  Restart();
  Pass(seconds(30));
  v1::ReportRequest report;
  *report.mutable_lease() = Driver::RefOf(leases_.at("w"));
  report.set_sequence(1);
  (*report.add_measurements()->mutable_metrics())["accuracy"] = 0.5;
  ASSERT_OK(driver_->Call<v1::ReportReply>(report));
  Pass(seconds(1));
  for (int restart = 0; restart < 20; ++restart) Restart();
  Pass(kLease - seconds(5));
  EXPECT_TRUE(HasItsTrial("w"));
  Pass(seconds(10));
  EXPECT_FALSE(HasItsTrial("w"));
}

}  // namespace
}  // namespace frostline::server
