// SPDX-License-Identifier: Apache-2.0
//
// Curves as workers and people send them: how long they may be, and who hears
// of them.
#include "server/wire/limits.h"
#include "storage/factory.h"
#include "tests/server/driver.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

class CurvesTest : public ::testing::Test {
 protected:
  CurvesTest()
      : store_(*storage::OpenStore({.data_folder = "", .ephemeral = true})) {
    Restart();
    v1::CreateStudyRequest request = ExampleStudy("a", 9);
    *request.mutable_settings()->mutable_pruner() = Median();
    EXPECT_OK(driver_->Call<v1::CreateStudyReply>(request));
    EXPECT_OK(driver_->Register("w", "boot-1"));
  }

  void Restart() {
    driver_ = nullptr;
    driver_ = std::make_unique<Driver>(*store_, clock_);
    ASSERT_OK(driver_->started());
  }
  v1::Lease Acquire() { return driver_->AcquireOne("w", "boot-1"); }
  static v1::PrunerSpec Median() {
    v1::PrunerSpec pruner;
    pruner.set_name("median");
    (*pruner.mutable_options())["startup_trials"] = "1";
    return pruner;
  }
  void SetPruner(const v1::PrunerSpec& pruner) {
    v1::UpdateStudyRequest request;
    request.set_request_id(RandomHexId());
    request.set_name("studies/a");
    *request.mutable_settings()->mutable_pruner() = pruner;
    request.mutable_update_mask()->add_paths("pruner");
    ASSERT_OK(driver_->Call<v1::Study>(request));
  }

  // From `first` on every third step.
  template <typename Message>
  static void AddSteps(Message& message, std::int64_t first, int count,
                       double accuracy) {
    for (int i = 0; i < count; ++i) {
      v1::Measurement* const measurement = message.add_measurements();
      measurement->set_step(3 * (first + i));
      (*measurement->mutable_metrics())["accuracy"] = accuracy;
    }
  }
  absl::StatusOr<v1::ReportReply> Report(const v1::Lease& lease,
                                         std::int64_t first, int count,
                                         double accuracy = 0.5) {
    v1::ReportRequest request;
    *request.mutable_lease() = Driver::RefOf(lease);
    AddSteps(request, first, count, accuracy);
    return driver_->Call<v1::ReportReply>(request);
  }
  // With a curve that is hard to beat.
  static v1::ImportTrialsRequest GoodTrial() {
    v1::ImportTrialsRequest request;
    request.set_request_id(RandomHexId());
    request.set_name("studies/a");
    v1::ImportedTrial* const trial = request.add_trials();
    trial->set_state(v1::TRIAL_STATE_SUCCEEDED);
    for (const char* layer : {"layer.0", "layer.1"}) {
      (*trial->mutable_parameters())[layer].set_number_value(1e-5);
    }
    (*trial->mutable_metrics())["accuracy"] = 0.9;
    AddSteps(*trial, 1, 3, 0.8);
    return request;
  }
  void ReportUpTo(const v1::Lease& lease, std::int64_t count) {
    for (std::int64_t step = 0; step < count; step += 1000) {
      ASSERT_OK(Report(lease, step, 1000));
    }
  }
  v1::FinishRequest FinishOf(const v1::Lease& lease) {
    v1::FinishRequest request;
    *request.mutable_lease() = Driver::RefOf(lease);
    request.mutable_outcome()->set_kind(v1::Outcome::SUCCEEDED);
    (*request.mutable_outcome()->mutable_metrics())["accuracy"] = 0.9;
    return request;
  }

  FakeClock clock_;
  std::unique_ptr<storage::TrialStore> store_;
  std::unique_ptr<Driver> driver_;
};

TEST_F(CurvesTest, AStepTooManyIsRefusedAndTheResultStillCounts) {
  const v1::Lease lease = Acquire();
  ReportUpTo(lease, kMaxCurveSteps - 1000);
  ASSERT_OK(Report(lease, kMaxCurveSteps - 1000, 999));
  EXPECT_THAT(Report(lease, kMaxCurveSteps - 1, 2),
              FailsAt(ErrorId::kFieldTooLarge, "measurements"));
  ASSERT_OK(Report(lease, kMaxCurveSteps - 1, 1));
  EXPECT_THAT(Report(lease, kMaxCurveSteps, 1),
              FailsWith(ErrorId::kFieldTooLarge));
  ASSERT_OK(Report(lease, kMaxCurveSteps - 1, 1));  // repeated
  v1::FinishRequest finish = FinishOf(lease);
  AddSteps(finish, kMaxCurveSteps, 1, 0.5);
  EXPECT_THAT(driver_->Call<v1::FinishReply>(finish),
              FailsWith(ErrorId::kFieldTooLarge));
  ASSERT_OK_AND_ASSIGN(const auto reply,
                       driver_->Call<v1::FinishReply>(FinishOf(lease)));
  EXPECT_EQ(reply.verdict(), v1::FinishReply::ACCEPTED);
  EXPECT_EQ(reply.trial().state(), v1::TRIAL_STATE_SUCCEEDED);
}

TEST_F(CurvesTest, AfterARestartStepsAreCountedInTheStore) {
  const v1::Lease lease = Acquire();
  ReportUpTo(lease, kMaxCurveSteps - 1000);
  Restart();
  ASSERT_OK(Report(lease, kMaxCurveSteps - 1000, 999));
  EXPECT_THAT(Report(lease, kMaxCurveSteps - 1, 2),
              FailsWith(ErrorId::kFieldTooLarge));
  Restart();
  EXPECT_THAT(Report(lease, kMaxCurveSteps - 1, 2),
              FailsWith(ErrorId::kFieldTooLarge));
  ASSERT_OK(Report(lease, kMaxCurveSteps - 1, 1));
  EXPECT_OK(driver_->Call<v1::FinishReply>(FinishOf(lease)));
}

TEST_F(CurvesTest, StepsMayHaveHighNumbersWhereThereAreFew) {
  const v1::Lease lease = Acquire();
  ASSERT_OK(Report(lease, 5 * kMaxCurveSteps, 10));
  Restart();
  ASSERT_OK(Report(lease, 6 * kMaxCurveSteps, 10));
  ASSERT_OK(Report(lease, 7 * kMaxCurveSteps, 10));
}

// The import is then what opens the study's search.
TEST_F(CurvesTest, AnImportedCurveIsComparedWithAfterARestartToo) {
  const v1::Lease lease = Acquire();
  Restart();
  ASSERT_OK(driver_->Call<v1::ImportTrialsReply>(GoodTrial()));
  ASSERT_OK_AND_ASSIGN(const auto bad, Report(lease, 2, 1, 0.7));
  EXPECT_EQ(bad.directive().action(), v1::Directive::STOP_PRUNED);
}

TEST_F(CurvesTest, AnImportedCurveIsComparedWithAtOnce) {
  ASSERT_OK(driver_->Call<v1::ImportTrialsReply>(GoodTrial()));
  ASSERT_OK_AND_ASSIGN(const auto bad, Report(Acquire(), 2, 1, 0.7));
  EXPECT_EQ(bad.directive().action(), v1::Directive::STOP_PRUNED);
  EXPECT_THAT(bad.directive().reason(), testing::HasSubstr("of 1 trials"));
}

TEST_F(CurvesTest, WhatComesWithAnEndIsComparedWithAtOnce) {
  v1::FinishRequest finish = FinishOf(Acquire());
  AddSteps(finish, 1, 3, 0.8);
  ASSERT_OK(driver_->Call<v1::FinishReply>(finish));
  ASSERT_OK_AND_ASSIGN(const auto bad, Report(Acquire(), 2, 1, 0.7));
  EXPECT_EQ(bad.directive().action(), v1::Directive::STOP_PRUNED);
}

// The search is open by then, and was read without curves.
TEST_F(CurvesTest, APrunerThatIsSwitchedOnComparesWithWhatWasBefore) {
  SetPruner(v1::PrunerSpec());
  v1::FinishRequest finish = FinishOf(Acquire());
  AddSteps(finish, 1, 3, 0.8);
  ASSERT_OK(driver_->Call<v1::FinishReply>(finish));
  Restart();
  const v1::Lease good = Acquire();
  const v1::Lease bad = Acquire();
  ASSERT_OK(Report(good, 1, 1, 0.9));
  ASSERT_OK(Report(bad, 1, 1, 0.7));
  SetPruner(Median());
  ASSERT_OK_AND_ASSIGN(const auto first, Report(good, 2, 1, 0.9));
  EXPECT_EQ(first.directive().action(), v1::Directive::CONTINUE);
  ASSERT_OK_AND_ASSIGN(const auto second, Report(bad, 2, 1, 0.7));
  EXPECT_EQ(second.directive().action(), v1::Directive::STOP_PRUNED);
  EXPECT_THAT(second.directive().reason(), testing::HasSubstr("of 1 trials"));
}

// The worker repeats what was stored, since an answer was lost, and another has
// the trial.
TEST_F(CurvesTest, ALateEndOfAFullCurveIsTaken) {
  const v1::Lease lease = Acquire();
  ReportUpTo(lease, kMaxCurveSteps - 1);
  ASSERT_OK(driver_->Register("w", "boot-2"));
  const v1::Lease next = driver_->AcquireOne("w", "boot-2");
  ASSERT_EQ(next.trial(), lease.trial());
  ASSERT_NE(next.attempt(), lease.attempt());
  v1::FinishRequest finish = FinishOf(lease);
  AddSteps(finish, kMaxCurveSteps - 3, 4, 0.5);
  EXPECT_THAT(driver_->Call<v1::FinishReply>(finish),
              FailsWith(ErrorId::kFieldTooLarge));
  finish.mutable_measurements()->RemoveLast();
  ASSERT_OK_AND_ASSIGN(const auto reply,
                       driver_->Call<v1::FinishReply>(finish));
  EXPECT_EQ(reply.verdict(), v1::FinishReply::ACCEPTED);
}

}  // namespace
}  // namespace frostline::server
