// SPDX-License-Identifier: Apache-2.0
//
// The seed of a trial: who gets which, where it is seen, and what keeps it.
#include <map>
#include <set>

#include "gmock/gmock.h"
#include "storage/factory.h"
#include "tests/server/driver.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TrialSeedsTest : public ::testing::Test {
 protected:
  TrialSeedsTest()
      : store_(*storage::OpenStore({.data_folder = "", .ephemeral = true})) {
    Restart();
  }

  void Restart() {
    driver_ = nullptr;
    driver_ = std::make_unique<Driver>(*store_, clock_);
    ASSERT_OK(driver_->started());
    ASSERT_OK(driver_->Register("w", boot_ = RandomHexId()));
  }
  void Create(const v1::CreateStudyRequest& request) {
    ASSERT_OK(driver_->Call<v1::CreateStudyReply>(request));
  }
  v1::Lease Acquire() { return driver_->AcquireOne("w", boot_); }
  // Runs trials to their end; their seeds.
  std::vector<std::uint64_t> Run(int trials) {
    std::vector<std::uint64_t> seeds;
    for (int i = 0; i < trials; ++i) {
      const v1::Lease lease = Acquire();
      seeds.push_back(lease.spec().seed());
      EXPECT_OK(driver_->Finish(lease, 0.5 + 0.01 * i));
    }
    return seeds;
  }
  template <typename Request>
  static Request On(const std::string& name) {
    Request request;
    request.set_request_id(RandomHexId());
    request.set_name(name);
    return request;
  }
  v1::Trial Get(const std::string& name) {
    v1::GetTrialRequest request;
    request.set_name(name);
    return *driver_->Call<v1::Trial>(request);
  }

  std::string Export(v1::ExportTrialsRequest::Format format) {
    v1::ExportTrialsRequest request;
    request.set_name("studies/a");
    request.set_format(format);
    return driver_->Export(request)->data;
  }

  FakeClock clock_;
  std::unique_ptr<storage::TrialStore> store_;
  std::unique_ptr<Driver> driver_;
  std::string boot_;
};

TEST_F(TrialSeedsTest, EachTrialHasItsOwnWhateverRestartsBetween) {
  Create(ExampleStudy("a", 8));
  const std::vector<std::uint64_t> without = Run(8);
  EXPECT_EQ(std::set<std::uint64_t>(without.begin(), without.end()).size(), 8u);
  for (int i = 0; i < 8; ++i) {
    const std::string name = "studies/a/trials/" + std::to_string(i);
    EXPECT_EQ(Get(name).seed(), without[static_cast<std::size_t>(i)]);
  }
  Create(ExampleStudy("b", 8));  // the same study, by another name
  std::vector<std::uint64_t> with;
  for (int i = 0; i < 8; ++i) {
    with.push_back(Run(1).front());
    Restart();
  }
  EXPECT_EQ(with, without);
}

TEST_F(TrialSeedsTest, AnotherAttemptAndARetryKeepIt) {
  Create(ExampleStudy("a", 4));
  const v1::Lease first = Acquire();
  v1::ReleaseRequest release;
  *release.mutable_lease() = Driver::RefOf(first);
  release.set_reason(v1::ReleaseRequest::PREEMPTED);
  ASSERT_OK(driver_->Call<v1::ReleaseReply>(release));
  Restart();
  const v1::Lease second = Acquire();
  ASSERT_EQ(second.trial(), first.trial());
  EXPECT_EQ(second.attempt(), 2);
  EXPECT_EQ(second.spec().seed(), first.spec().seed());
  ASSERT_OK(driver_->Finish(second, 0.5));
  const auto retried =
      driver_->Call<v1::Trial>(On<v1::RetryTrialRequest>(first.trial()));
  ASSERT_OK(retried);
  EXPECT_NE(retried->number(), 0);
  EXPECT_EQ(retried->seed(), first.spec().seed());
  EXPECT_EQ(Acquire().spec().seed(), first.spec().seed());
}

TEST_F(TrialSeedsTest, ARetryMayHaveAnotherAndLaterOnesKeepThat) {
  Create(ExampleStudy("a", 4));
  const v1::Lease first = Acquire();
  ASSERT_OK(driver_->Finish(first, 0.5));
  auto retry = On<v1::RetryTrialRequest>(first.trial());
  retry.set_seed(77);
  const auto retried = driver_->Call<v1::Trial>(retry);
  ASSERT_OK(retried);
  EXPECT_EQ(retried->seed(), 77u);
  EXPECT_EQ(driver_->Call<v1::Trial>(retry)->name(), retried->name());
  Restart();
  EXPECT_EQ(Get(retried->name()).seed(), 77u);
  const v1::Lease second = Acquire();
  EXPECT_EQ(second.trial(), retried->name());
  EXPECT_EQ(second.spec().seed(), 77u);
  ASSERT_OK(driver_->Finish(second, 0.5));
  EXPECT_EQ(driver_->Call<v1::Trial>(On<v1::RetryTrialRequest>(second.trial()))
                ->seed(),
            77u);
}

// What is sampled next does not depend on the seed that a retry was given.
TEST_F(TrialSeedsTest, ARetrysSeedLeavesTheOthersAsTheyWere) {
  std::vector<std::vector<std::uint64_t>> seeds;
  for (const char* study : {"a", "b"}) {
    Create(ExampleStudy(study, 4));
    const v1::Lease first = Acquire();
    ASSERT_OK(driver_->Finish(first, 0.5));
    auto retry = On<v1::RetryTrialRequest>(first.trial());
    if (*study == 'b') retry.set_seed(77);
    ASSERT_OK(driver_->Call<v1::Trial>(retry));
    seeds.push_back(Run(4));
  }
  EXPECT_EQ(seeds[1][0], 77u);
  seeds[0][0] = seeds[1][0];
  EXPECT_EQ(seeds[0], seeds[1]);
}

TEST_F(TrialSeedsTest, AStudyMayFixIt) {
  v1::CreateStudyRequest request = ExampleStudy("a", 3);
  request.mutable_spec()->mutable_training()->set_seed(1);
  Create(request);
  EXPECT_THAT(Run(3), Each(1u));
  EXPECT_EQ(Get("studies/a/trials/2").seed(), 1u);
}

TEST_F(TrialSeedsTest, AnEnqueuedTrialMayBringItsOwn) {
  v1::CreateStudyRequest request = ExampleStudy("a", 3);
  request.mutable_spec()->mutable_training()->set_seed(1);
  request.mutable_spec()->add_enqueue()->set_seed(5);
  Create(request);
  auto enqueue = On<v1::EnqueueTrialsRequest>("studies/a");
  enqueue.add_trials()->set_seed(6);
  const auto enqueued = driver_->Call<v1::EnqueueTrialsReply>(enqueue);
  ASSERT_OK(enqueued);
  EXPECT_EQ(enqueued->trials(0).seed(), 6u);
  const v1::Lease lease = Acquire();
  EXPECT_EQ(lease.spec().seed(), 5u);
  EXPECT_EQ(lease.spec().training().seed(), 5u);  // trainers take it first
  EXPECT_THAT(Run(2), ElementsAre(6, 1));
}

TEST_F(TrialSeedsTest, FirstRunsShareTheirsWhereTheStudyPairsThem) {
  v1::CreateStudyRequest request = ExampleStudy("a", 9);
  request.mutable_spec()->set_seeds(v1::SEED_MODE_PAIRED);
  request.mutable_spec()->mutable_sampler()->set_name("brute");
  Create(request);
  const std::vector<std::uint64_t> seeds = Run(9);
  EXPECT_THAT(seeds, Each(seeds.front()));
}

// The list is the study's: of each point, over restarts, in each record.
TEST_F(TrialSeedsTest, AListSaysWhatTheRunsOfAnyPointTrainWith) {
  v1::CreateStudyRequest request = ExampleStudy("a", 9);
  request.mutable_spec()->set_seeds(v1::SEED_MODE_PAIRED);
  request.mutable_spec()->mutable_sampler()->set_name("brute");
  for (const std::uint64_t seed : {41u, 7u}) {
    request.mutable_spec()->add_training_seeds(seed);
  }
  Create(request);
  const v1::Lease first = Acquire();
  EXPECT_EQ(first.spec().seed(), 41u);
  EXPECT_EQ(first.spec().training().seed(), 41u);  // others have it, too
  ASSERT_OK(driver_->Finish(first, 0.5));
  Restart();
  const auto retried =
      driver_->Call<v1::Trial>(On<v1::RetryTrialRequest>(first.trial()));
  ASSERT_OK(retried);
  EXPECT_EQ(Get(retried->name()).seed(), 41u);
  EXPECT_EQ(Run(3), std::vector<std::uint64_t>(3, 41u));
}

TEST_F(TrialSeedsTest, LeadersRunAgainAtTheBudgetsEndUnderPairedSeeds) {
  v1::CreateStudyRequest request = ExampleStudy("a", 13);
  request.mutable_spec()->set_seeds(v1::SEED_MODE_PAIRED);
  request.mutable_spec()->mutable_sampler()->set_name("brute");
  request.mutable_spec()->mutable_repeat()->set_times(3);
  request.mutable_spec()->mutable_repeat()->set_leaders(2);
  Create(request);
  EXPECT_EQ(driver_->GetStudy("a")->spec().repeat().after(), 9);
  request.set_request_id(RandomHexId());
  Create(request);  // the same study, though it left the number open
  const std::vector<std::uint64_t> seeds = Run(13);  // the later, the better
  EXPECT_EQ(driver_->GetStudy("a")->state(), v1::STUDY_STATE_COMPLETED);
  std::map<std::string, std::vector<int>> runs_of;
  for (int i = 0; i < 13; ++i) {
    const v1::Trial trial = Get("studies/a/trials/" + std::to_string(i));
    std::string point;
    for (const auto& value : trial.parameters()) {
      point += value.value().ShortDebugString() + ";";
    }
    EXPECT_EQ(trial.repeat(), static_cast<int>(runs_of[point].size()));
    EXPECT_EQ(trial.seed() == seeds[0], trial.repeat() == 0);
    runs_of[point].push_back(i);
  }
  int repeated = 0;
  for (const auto& [point, runs] : runs_of) repeated += runs.size() == 3;
  EXPECT_EQ(runs_of.size(), 9u);
  EXPECT_EQ(repeated, 2);
  EXPECT_EQ(seeds[9], seeds[10]);  // both leaders' second runs
  EXPECT_EQ(seeds[11], seeds[12]);
}

TEST_F(TrialSeedsTest, ImportedTrialsKeepTheirsAndTheExportHasAll) {
  Create(ExampleStudy("a", 2));
  auto request = On<v1::ImportTrialsRequest>("studies/a");
  v1::ImportedTrial* const trial = request.add_trials();
  trial->set_state(v1::TRIAL_STATE_SUCCEEDED);
  trial->set_seed(77);
  for (const char* layer : {"layer.0", "layer.1"}) {
    (*trial->mutable_parameters())[layer].set_number_value(1e-5);
  }
  (*trial->mutable_metrics())["accuracy"] = 0.99;
  ASSERT_OK(driver_->Call<v1::ImportTrialsReply>(request));
  EXPECT_EQ(Get("studies/a/trials/0").seed(), 77u);
  const std::uint64_t own = Run(1).front();
  const std::string csv = Export(v1::ExportTrialsRequest::CSV);
  EXPECT_THAT(csv, HasSubstr(",cause,seed\n"));
  EXPECT_THAT(csv, HasSubstr(",77\n"));
  EXPECT_THAT(csv, HasSubstr("," + std::to_string(own) + "\n"));
  const std::string json = Export(v1::ExportTrialsRequest::JSON_LINES);
  EXPECT_THAT(json, HasSubstr("\"seed\":\"77\""));
}

}  // namespace
}  // namespace frostline::server
