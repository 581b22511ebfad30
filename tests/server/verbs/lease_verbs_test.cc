// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <limits>
#include <memory>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/wire/validate.h"
#include "storage/factory.h"
#include "tests/server/driver.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using std::chrono::seconds;
using ::testing::Contains;
using ::testing::HasSubstr;

// How far a running trial is: who may say it, who sees it, when it is gone.

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

// How busy GPUs were is told to who asks for it, and forgotten with the worker.
TEST_F(ProgressTest, ThePastOfGpusIsToldWhereItIsAskedFor) {
  v1::HeartbeatRequest beat = BeatOf(lease_);
  v1::GpuLoad* const gpu = beat.mutable_load()->add_gpus();
  gpu->set_uuid("GPU-1");
  gpu->set_utilization(0.25);
  Say(beat);
  clock_.Advance(seconds(60));
  gpu->set_utilization(0.75);
  Say(beat);
  beat.clear_load();
  Say(beat);
  v1::ListWorkersRequest list;
  const auto worker = [&] {
    return driver_->Call<v1::ListWorkersReply>(list)->workers(0);
  };
  EXPECT_FALSE(worker().has_history());
  list.mutable_history()->set_seconds(600);
  const v1::LoadHistory told = worker().history();
  ASSERT_EQ(told.gpus_size(), 1);
  EXPECT_EQ(told.gpus(0).uuid(), "GPU-1");
  const std::string& busy = told.gpus(0).busy();
  ASSERT_EQ(busy.size(), 10u);
  EXPECT_EQ(busy[8], 25);
  EXPECT_EQ(busy[9], 75);
  EXPECT_EQ(told.start_time().seconds() + 600,
            (clock_.Wall() / 60'000'000 + 1) * 60);
  // By quarters of an hour no more is kept than a week.
  list.mutable_history()->set_seconds(8 * 24 * 3600);
  EXPECT_EQ(worker().history().gpus(0).busy().size(), 7u * 24 * 4);
}

TEST(CheckProgress, RefusesWhatNobodyCouldShow) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  using Change = std::function<void(v1::TrialProgress&)>;
  const std::pair<const char*, Change> mistakes[] = {
      {"phase", [](auto& p) { p.set_phase("thinking"); }},
      {"phase", [](auto& p) { p.set_phase(std::string(1 << 16, 'x')); }},
      {"epoch", [nan](auto& p) { p.set_epoch(nan); }},
      {"epoch", [](auto& p) { p.set_epoch(-0.5); }},
      {"total_epochs", [infinity](auto& p) { p.set_total_epochs(infinity); }},
      {"steps_per_second", [nan](auto& p) { p.set_steps_per_second(nan); }},
      {"remaining", [](auto& p) { p.mutable_remaining()->set_seconds(-1); }},
      {"slot", [](auto& p) { p.set_slot(1024); }},
      {"slot", [](auto& p) { p.set_slot(-1); }},
  };
  v1::HeartbeatRequest beat;
  beat.set_worker("workers/w");
  beat.set_boot_id("boot-1");
  v1::LeaseProgress& held = *beat.add_leases();
  held.mutable_lease()->set_trial("studies/s/trials/0");
  held.mutable_lease()->set_attempt(1);
  held.mutable_lease()->set_secret("secret");
  EXPECT_OK(Validate(beat));
  for (const auto& [field, change] : mistakes) {
    held.clear_progress();
    change(*held.mutable_progress());
    EXPECT_THAT(Validate(beat),
                FailsAt(ErrorId::kRequestInvalid,
                        absl::StrCat("leases[0].progress.", field)));
  }
}

// What `training.precision: auto` stands for is decided once for a study.

class PrecisionTest : public ::testing::Test {
 protected:
  PrecisionTest() { Restart(); }

  void Restart() {
    driver_ = nullptr;
    driver_ = std::make_unique<Driver>(*store_, clock_);
    ASSERT_OK(driver_->started());
  }
  void Create(const std::string& precision) {
    v1::CreateStudyRequest request = ExampleStudy("a", 9);
    request.mutable_spec()->mutable_training()->set_precision(precision);
    ASSERT_OK(driver_->Call<v1::CreateStudyReply>(request));
  }
  void Register(const std::string& worker,
                const std::vector<std::string>& precisions) {
    v1::RegisterRequest request;
    request.set_worker_id(worker);
    request.mutable_worker()->set_boot_id("boot-1");
    request.mutable_worker()->set_slots(2);
    for (const std::string& each : precisions) {
      request.mutable_worker()->add_precisions(each);
    }
    EXPECT_OK(driver_->Call<v1::RegisterReply>(request));
  }
  v1::Lease Acquire(const std::string& worker,
                    const std::vector<std::string>& precisions = {}) {
    Register(worker, precisions);
    return driver_->AcquireOne(worker, "boot-1");
  }
  v1::AcquireReply AskAtOnce(const std::string& worker) {
    v1::AcquireRequest acquire = Driver::AcquireOf(worker, "boot-1");
    acquire.mutable_wait()->set_seconds(0);
    return *driver_->Call<v1::AcquireReply>(acquire);
  }
  v1::Directive::Action Report(const v1::Lease& lease,
                               const std::string& precision) {
    v1::ReportRequest request;
    *request.mutable_lease() = Driver::RefOf(lease);
    request.set_sequence(1);
    request.set_precision(precision);
    const auto reply = driver_->Call<v1::ReportReply>(request);
    EXPECT_OK(reply);
    return reply->directive().action();
  }
  v1::Study Study() {
    v1::GetStudyRequest request;
    request.set_name("studies/a");
    return *driver_->Call<v1::Study>(request);
  }

  FakeClock clock_;
  std::unique_ptr<storage::TrialStore> store_ =
      *storage::OpenStore({.data_folder = "", .ephemeral = true});
  std::unique_ptr<Driver> driver_;
};

TEST_F(PrecisionTest, TheFirstTrialDecidesForAllThatFollow) {
  Create("auto");
  const v1::Lease first = Acquire("gpu");
  EXPECT_EQ(first.spec().auto_precision(), "");
  EXPECT_EQ(Report(first, "bf16"), v1::Directive::CONTINUE);
  EXPECT_EQ(Study().settings().auto_precision(), "bf16");
  const v1::Lease second = Acquire("gpu");
  EXPECT_EQ(second.spec().training().precision(), "bf16");
  EXPECT_EQ(second.spec().auto_precision(), "bf16");
}

TEST_F(PrecisionTest, WhoBeganInAnotherHandsItBack) {
  Create("");
  const v1::Lease fast = Acquire("gpu");
  const v1::Lease slow = Acquire("cpu");
  EXPECT_EQ(Report(fast, "bf16"), v1::Directive::CONTINUE);
  EXPECT_EQ(Report(slow, "fp32"), v1::Directive::CHECKPOINT_AND_RELEASE);
  EXPECT_EQ(Study().settings().auto_precision(), "bf16");
}

TEST_F(PrecisionTest, WhoCannotGetsNoTrialAndIsToldWhy) {
  Create("auto");
  Report(Acquire("gpu", {"fp32", "bf16"}), "bf16");
  Register("cpu", {"fp32"});
  const v1::AcquireReply none = AskAtOnce("cpu");
  EXPECT_EQ(none.leases_size(), 0);
  EXPECT_EQ(none.none_reason(), v1::NOT_IN_STOCK);
  EXPECT_THAT(none.none_detail(), HasSubstr("precision bf16"));
  EXPECT_NE(Acquire("gpu", {"fp32", "bf16"}).trial(), "");
  EXPECT_NE(Acquire("any").trial(), "");  // it did not say
}

TEST_F(PrecisionTest, OutlivesARestart) {
  Create("auto");
  Report(Acquire("gpu"), "bf16");
  Restart();
  EXPECT_EQ(Study().settings().auto_precision(), "bf16");
  EXPECT_EQ(Acquire("other").spec().training().precision(), "bf16");
}

TEST_F(PrecisionTest, AFinishDecidesWhereNoReportDid) {
  Create("auto");
  v1::FinishRequest finish;
  *finish.mutable_lease() = Driver::RefOf(Acquire("gpu"));
  finish.mutable_outcome()->set_kind(v1::Outcome::SUCCEEDED);
  (*finish.mutable_outcome()->mutable_metrics())["accuracy"] = 0.5;
  finish.mutable_outcome()->mutable_usage()->set_precision("fp32");
  ASSERT_OK(driver_->Call<v1::FinishReply>(finish));
  EXPECT_EQ(Acquire("gpu").spec().auto_precision(), "fp32");
}

TEST_F(PrecisionTest, AStudyThatNamesOneKeepsIt) {
  Create("fp32");
  EXPECT_EQ(Report(Acquire("gpu"), "bf16"), v1::Directive::CONTINUE);
  EXPECT_EQ(Study().settings().auto_precision(), "");
  EXPECT_EQ(Acquire("cpu", {"bf16"}).spec().training().precision(), "fp32");
}

TEST_F(PrecisionTest, MayBeSaidAtFirstAndIsNotChangedLater) {
  Create("auto");
  Report(Acquire("gpu"), "bf16");
  Create("auto");  // the same study, again
  v1::UpdateStudyRequest update;
  update.set_request_id(RandomHexId());
  update.set_name("studies/a");
  update.mutable_settings()->set_auto_precision("fp32");
  update.mutable_update_mask()->add_paths("auto_precision");
  EXPECT_THAT(driver_->Call<v1::Study>(update),
              FailsAt(ErrorId::kRequestInvalid, "update_mask"));
  v1::CreateStudyRequest odd = ExampleStudy("b", 9);
  odd.mutable_settings()->set_auto_precision("fp8");
  EXPECT_THAT(driver_->Call<v1::CreateStudyReply>(odd),
              FailsAt(ErrorId::kRequestInvalid, "auto_precision"));
}

// A study goes only to workers that have its model and data.

class StockTest : public ::testing::Test {
 protected:
  void Register(const std::string& worker,
                const std::vector<std::string>& models) {
    v1::RegisterRequest request;
    request.set_worker_id(worker);
    request.mutable_worker()->set_boot_id("boot-1");
    request.mutable_worker()->set_slots(1);
    request.mutable_worker()->mutable_stock();
    for (const std::string& id : models) {
      request.mutable_worker()->mutable_stock()->add_models()->set_id(id);
    }
    EXPECT_OK(driver_.Call<v1::RegisterReply>(request));
  }
  absl::StatusOr<v1::CreateStudyReply> Create(const std::string& id) {
    return driver_.Call<v1::CreateStudyReply>(ExampleStudy(id, 5));
  }
  v1::ExplainStudyReply Explain() {
    v1::ExplainStudyRequest request;
    request.set_name("studies/a");
    return *driver_.Call<v1::ExplainStudyReply>(request);
  }

  FakeClock clock_;
  std::unique_ptr<storage::TrialStore> store_ =
      *storage::OpenStore({.data_folder = "", .ephemeral = true});
  Driver driver_{*store_, clock_};
};

TEST_F(StockTest, WhoeverCreatesItIsToldThatNobodyHasTheModel) {
  Register("w", {"bert"});
  EXPECT_THAT(Create("a")->advice(),
              Contains(HasSubstr("no worker has the model tiny yet")));
  Register("v", {"tiny"});
  EXPECT_THAT(Create("b")->advice(), Not(Contains(HasSubstr("no worker"))));
}

TEST_F(StockTest, ExplainSaysThatNobodyHasTheModel) {
  Register("w", {"bert"});
  ASSERT_OK(Create("a"));
  const v1::ExplainStudyReply explained = Explain();
  EXPECT_EQ(explained.reasons(0).code(), "NOT_IN_STOCK");
  EXPECT_EQ(explained.live_workers(), 1);
  EXPECT_EQ(explained.matching_workers(), 0);
  EXPECT_EQ(explained.useful_parallelism(), 5);  // random needs no results
}

TEST_F(StockTest, AWaitingWorkerGetsATrialOnceItHasTheModel) {
  Register("w", {"bert"});
  ASSERT_OK(Create("a"));
  auto waiting = driver_.StartAcquire(Driver::AcquireOf("w", "boot-1"));
  EXPECT_EQ(driver_.Waiting(), 1);
  Register("w", {"bert", "tiny"});
  EXPECT_EQ(waiting.get()->leases_size(), 1);
}

TEST_F(StockTest, ATrialThatIsNotInStockComesBackWithoutAFault) {
  Register("w", {"tiny"});
  ASSERT_OK(Create("a"));
  const v1::Lease lease = driver_.AcquireOne("w", "boot-1");
  Register("w", {});
  v1::ReleaseRequest release;
  *release.mutable_lease() = Driver::RefOf(lease);
  release.set_reason(v1::ReleaseRequest::NOT_IN_STOCK);
  release.set_detail("FL-5010: tiny is not there");
  EXPECT_OK(driver_.Call<v1::ReleaseReply>(release));
  v1::GetTrialRequest get;
  get.set_name(lease.trial());
  const v1::Trial trial = *driver_.Call<v1::Trial>(get);
  EXPECT_EQ(trial.state(), v1::TRIAL_STATE_QUEUED);
  v1::ExplainStudyRequest why;
  why.set_name("studies/a");
  why.set_trial_number(0);
  EXPECT_THAT(driver_.Call<v1::ExplainStudyReply>(why)->reasons(0).sentence(),
              HasSubstr("0 faults of the trial, 0 of the infrastructure"));
  v1::AcquireRequest again = Driver::AcquireOf("w", "boot-1");
  again.mutable_wait()->set_seconds(0);
  EXPECT_EQ(driver_.Call<v1::AcquireReply>(again)->none_reason(),
            v1::NOT_IN_STOCK);
}

TEST_F(StockTest, AnotherBudgetUnderTheSameIdIsRefusedByName) {
  ASSERT_OK(Create("a"));
  v1::CreateStudyRequest other = ExampleStudy("a", 6);
  const auto refused = driver_.Call<v1::CreateStudyReply>(other);
  EXPECT_THAT(refused, FailsWith(ErrorId::kStudyAlreadyExists));
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("settings.budget"));
  EXPECT_OK(Create("a"));  // the same, again
}

}  // namespace
}  // namespace frostline::server
