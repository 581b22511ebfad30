// SPDX-License-Identifier: Apache-2.0
//
// How far a running trial is: who may say it, who sees it, when it is gone.
#include <algorithm>
#include <functional>
#include <limits>

#include "server/wire/field_checks.h"
#include "server/wire/validate.h"
#include "storage/factory.h"
#include "tests/server/driver.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using std::chrono::seconds;

class ProgressTest : public ::testing::Test {
 protected:
  ProgressTest()
      : store_(*storage::OpenStore({.data_folder = "", .ephemeral = true})) {
    Restart();
    EXPECT_OK(driver_->Call<v1::CreateStudyReply>(ExampleStudy("a", 4)));
    EXPECT_OK(driver_->Register("w", "boot-1"));
    lease_ = driver_->AcquireOne("w", "boot-1");
  }

  void Restart() {
    driver_.reset();
    driver_ = std::make_unique<Driver>(*store_, clock_);
    ASSERT_OK(driver_->started());
  }
  // In epoch 1.5 of 3, in slot 2.
  static v1::HeartbeatRequest BeatOf(const v1::Lease& lease) {
    v1::HeartbeatRequest beat;
    beat.set_worker("workers/w");
    beat.set_boot_id("boot-1");
    v1::LeaseProgress* const said = beat.add_leases();
    *said->mutable_lease() = Driver::RefOf(lease);
    said->set_step(150);
    said->set_total_steps(300);
    said->mutable_progress()->set_phase("training");
    said->mutable_progress()->set_epoch(1.5);
    said->mutable_progress()->set_total_epochs(3);
    said->mutable_progress()->set_steps_per_second(2.5);
    said->mutable_progress()->mutable_remaining()->set_seconds(60);
    said->mutable_progress()->set_slot(2);
    return beat;
  }
  v1::HeartbeatReply Say(const v1::HeartbeatRequest& beat) {
    return *driver_->Call<v1::HeartbeatReply>(beat);
  }
  v1::Trial Get(v1::TrialView view = v1::TRIAL_VIEW_FULL) {
    v1::GetTrialRequest request;
    request.set_name(lease_.trial());
    request.set_view(view);
    return *driver_->Call<v1::Trial>(request);
  }
  v1::Trial Listed(v1::TrialView view) {
    v1::ListTrialsRequest request;
    request.set_parent("studies/a");
    request.set_view(view);
    return driver_->Call<v1::ListTrialsReply>(request)->trials(0);
  }

  FakeClock clock_;
  std::unique_ptr<storage::TrialStore> store_;
  std::unique_ptr<Driver> driver_;
  v1::Lease lease_;
};

TEST_F(ProgressTest, IsShownAsItsWorkerSaidItWithTheStepsOfTheHeartbeat) {
  EXPECT_FALSE(Get().has_progress());
  v1::HeartbeatRequest beat = BeatOf(lease_);
  beat.mutable_leases(0)->mutable_progress()->set_step(7);  // is passed over
  beat.mutable_leases(0)->mutable_progress()->mutable_as_of()->set_seconds(1);
  Say(beat);
  const v1::TrialProgress seen = Get().progress();
  EXPECT_EQ(seen.phase(), "training");
  EXPECT_EQ(seen.step(), 150);
  EXPECT_EQ(seen.total_steps(), 300);
  EXPECT_EQ(seen.epoch(), 1.5);
  EXPECT_EQ(seen.total_epochs(), 3);
  EXPECT_EQ(seen.steps_per_second(), 2.5);
  EXPECT_EQ(seen.remaining().seconds(), 60);
  EXPECT_EQ(seen.slot(), 2);
  EXPECT_EQ(seen.as_of().seconds(), clock_.Wall() / 1'000'000);
}

TEST_F(ProgressTest, IsInListsOfBothViewsAndInWhatWatchersGet) {
  Say(BeatOf(lease_));
  for (const v1::TrialView view : {v1::TRIAL_VIEW_BASIC, v1::TRIAL_VIEW_FULL}) {
    EXPECT_EQ(Get(view).progress().step(), 150);
    EXPECT_EQ(Listed(view).progress().step(), 150);
  }
  const auto events = driver_->NextEvents("a", 0);
  ASSERT_OK(events);
  EXPECT_EQ(events->front().trial().progress().step(), 150);
}

TEST_F(ProgressTest, CostsNoRevision) {
  const std::int64_t before = driver_->GetStudy("a")->revision();
  const std::int64_t trial_before = Get().revision();
  Say(BeatOf(lease_));
  EXPECT_EQ(driver_->GetStudy("a")->revision(), before);
  EXPECT_EQ(Get().revision(), trial_before);
}

TEST_F(ProgressTest, TheNewestCountsAndSilenceLeavesIt) {
  v1::HeartbeatRequest beat = BeatOf(lease_);
  Say(beat);
  const std::int64_t first = Get().progress().as_of().seconds();
  clock_.Advance(seconds(15));
  beat.mutable_leases(0)->clear_progress();
  Say(beat);
  EXPECT_EQ(Get().progress().as_of().seconds(), first);
  beat = BeatOf(lease_);
  beat.mutable_leases(0)->mutable_progress()->set_phase("saving");
  Say(beat);
  EXPECT_EQ(Get().progress().phase(), "saving");
  EXPECT_EQ(Get().progress().as_of().seconds(), first + 15);
}

TEST_F(ProgressTest, IsGoneWithTheRunAndNotOfTheNext) {
  Say(BeatOf(lease_));
  v1::ReleaseRequest release;
  *release.mutable_lease() = Driver::RefOf(lease_);
  release.set_reason(v1::ReleaseRequest::PREEMPTED);
  ASSERT_OK(driver_->Call<v1::ReleaseReply>(release));
  EXPECT_FALSE(Get().has_progress());
  const v1::Lease second = driver_->AcquireOne("w", "boot-1");
  ASSERT_EQ(second.trial(), lease_.trial());
  EXPECT_FALSE(Get().has_progress());
  EXPECT_EQ(Say(BeatOf(lease_)).directives(0).action(),
            v1::Directive::LEASE_LOST);
  EXPECT_FALSE(Get().has_progress());
  Say(BeatOf(second));
  EXPECT_TRUE(Get().has_progress());
  ASSERT_OK(driver_->Finish(second, 0.5));
  EXPECT_FALSE(Get().has_progress());
}

TEST_F(ProgressTest, ComesBackWithTheNextHeartbeatAfterARestart) {
  Say(BeatOf(lease_));
  Restart();
  EXPECT_FALSE(Get().has_progress());
  Say(BeatOf(lease_));
  EXPECT_EQ(Get().progress().epoch(), 1.5);
}

// A wrong secret, another worker's trial and one that is not there leave
// nothing behind.
TEST_F(ProgressTest, WhoHasNotTheLeaseSaysNothing) {
  v1::Lease stolen = lease_;
  stolen.set_secret("stolen");
  Say(BeatOf(stolen));
  EXPECT_FALSE(Get().has_progress());
  stolen.set_trial("studies/a/trials/3");
  EXPECT_EQ(Say(BeatOf(stolen)).directives(0).action(),
            v1::Directive::LEASE_LOST);
}

TEST_F(ProgressTest, KeepsNothingThatThisVersionDoesNotKnow) {
  v1::HeartbeatRequest beat = BeatOf(lease_);
  v1::TrialProgress& said = *beat.mutable_leases(0)->mutable_progress();
  const std::string plain = said.SerializeAsString();
  // Field 100, of 1,000 bytes.
  ASSERT_TRUE(said.ParseFromString(plain + "\xa2\x06\xe8\x07" +
                                   std::string(1'000, 'x')));
  Say(beat);
  EXPECT_LT(Get().progress().ByteSizeLong(), 200u);
}

TEST_F(ProgressTest, RegistrationSaysThatItIsTaken) {
  const auto registered = driver_->Register("w", "boot-1");
  ASSERT_OK(registered);
  const auto& takes = registered->takes();
  EXPECT_EQ(std::count(takes.begin(), takes.end(), "progress"), 1);
}

TEST(CheckProgress, RefusesWhatNobodyCouldShow) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  using Change = std::function<void(v1::TrialProgress&)>;
  const std::pair<const char*, Change> mistakes[] = {
      {"p.phase", [](auto& p) { p.set_phase("thinking"); }},
      {"p.phase", [](auto& p) { p.set_phase(std::string(1 << 16, 'x')); }},
      {"p.epoch", [nan](auto& p) { p.set_epoch(nan); }},
      {"p.epoch", [](auto& p) { p.set_epoch(-0.5); }},
      {"p.total_epochs", [infinity](auto& p) { p.set_total_epochs(infinity); }},
      {"p.steps_per_second", [nan](auto& p) { p.set_steps_per_second(nan); }},
      {"p.remaining", [](auto& p) { p.mutable_remaining()->set_seconds(-1); }},
      {"p.slot", [](auto& p) { p.set_slot(1024); }},
      {"p.slot", [](auto& p) { p.set_slot(-1); }},
  };
  EXPECT_OK(CheckProgress({}, "p"));
  for (const auto& [field, change] : mistakes) {
    v1::TrialProgress progress;
    change(progress);
    EXPECT_THAT(CheckProgress(progress, "p"),
                FailsAt(ErrorId::kRequestInvalid, field));
  }
}

}  // namespace
}  // namespace frostline::server
