// SPDX-License-Identifier: Apache-2.0
//
// What `training.precision: auto` stands for is decided once for a study.
#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/factory.h"
#include "tests/server/driver.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using ::testing::HasSubstr;

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

}  // namespace
}  // namespace frostline::server
