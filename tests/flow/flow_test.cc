// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <functional>
#include <set>
#include <thread>

#include "tests/flow/world.h"
#include "tests/server/example_study.h"
#include "tests/support/status_matchers.h"

namespace frostline::test {
namespace {

constexpr char kStudy[] = "studies/a";

class FlowTest : public ::testing::TestWithParam<std::unique_ptr<World> (*)()> {
 protected:
  FlowTest() : world_(GetParam()()) {}

  // Leases of 2 s, so that a dead worker is noticed within the test.
  void Create(std::int64_t budget) {
    v1::CreateStudyRequest request = server::ExampleStudy("a", budget);
    request.mutable_spec()->mutable_lease()->mutable_ttl()->set_seconds(2);
    request.mutable_spec()->mutable_sampler()->set_name("tpe");
    ASSERT_OK(world_->CreateStudy(request));
  }

  // Looks until `seen` holds; false when it never does.
  bool Eventually(const std::function<bool(const v1::Study&)>& seen) {
    for (int i = 0; i < 600; ++i) {
      const auto study = world_->GetStudy(kStudy);
      if (study.ok() && seen(*study)) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }
  static bool Completed(const v1::Study& study) {
    return study.state() == v1::STUDY_STATE_COMPLETED;
  }

  void ExpectEveryTrialOnce(std::int64_t budget) {
    const auto trials = world_->ListTrials(kStudy);
    ASSERT_OK(trials);
    ASSERT_EQ(static_cast<std::int64_t>(trials->size()), budget);
    std::set<std::int64_t> numbers;
    for (const v1::Trial& trial : *trials) {
      EXPECT_EQ(trial.state(), v1::TRIAL_STATE_SUCCEEDED) << trial.name();
      EXPECT_TRUE(numbers.insert(trial.number()).second);
    }
  }

  std::unique_ptr<World> world_;
};

TEST_P(FlowTest, TheTrialOfAKilledWorkerIsDoneByTheOther) {
  Create(6);
  world_->StartWorker("stuck", Temper::kStuck);
  ASSERT_TRUE(Eventually(
      [](const v1::Study& study) { return study.counts().running() == 1; }));
  world_->KillWorker("stuck");
  world_->StartWorker("diligent", Temper::kDiligent);
  ASSERT_TRUE(Eventually(Completed));
  ExpectEveryTrialOnce(6);
  int second_attempts = 0;
  const auto trials = world_->ListTrials(kStudy);
  for (const v1::Trial& trial : *trials) {
    EXPECT_EQ(trial.worker(), "workers/diligent");
    if (trial.attempt() == 2) ++second_attempts;
  }
  EXPECT_EQ(second_attempts, 1);
}

TEST_P(FlowTest, ARestartOfTheCoordinatorLosesNothing) {
  Create(8);
  world_->StartWorker("diligent", Temper::kDiligent);
  ASSERT_TRUE(Eventually(
      [](const v1::Study& study) { return study.counts().succeeded() >= 3; }));
  const auto before = world_->ListTrials(kStudy);
  ASSERT_OK(before);
  world_->RestartCoordinator();
  ASSERT_TRUE(Eventually(Completed));
  ExpectEveryTrialOnce(8);
  // What had ended before is as it was.
  const auto after = world_->ListTrials(kStudy);
  for (const v1::Trial& trial : *before) {
    if (trial.state() != v1::TRIAL_STATE_SUCCEEDED) continue;
    const auto number = static_cast<std::size_t>(trial.number());
    EXPECT_EQ((*after)[number].values(0), trial.values(0));
    EXPECT_EQ((*after)[number].attempt(), trial.attempt());
  }
}

INSTANTIATE_TEST_SUITE_P(InProcess, FlowTest,
                         ::testing::Values(&MakeInProcessWorld));
INSTANTIATE_TEST_SUITE_P(RealBinaries, FlowTest,
                         ::testing::Values(&MakeRealWorld));

}  // namespace
}  // namespace frostline::test
