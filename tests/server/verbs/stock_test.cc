// SPDX-License-Identifier: Apache-2.0
//
// A study goes only to workers that have its model and data.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/factory.h"
#include "tests/server/driver.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

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
