// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "gmock/gmock.h"
#include "worker/agent/trial/trial_run.h"

namespace frostline::agent {
namespace {

using ::testing::HasSubstr;

v1::TrialSpec WantsAccuracy() {
  v1::TrialSpec spec;
  spec.add_objectives()->set_metric("accuracy");
  return spec;
}

FinishMessage Succeeded(Metrics metrics) {
  FinishMessage finish;
  finish.metrics = std::move(metrics);
  return finish;
}

TEST(OutcomeOf, ASuccessNeedsEveryObjective) {
  const auto good = OutcomeOf(Succeeded({{"accuracy", 0.9}}), WantsAccuracy());
  EXPECT_EQ(good.kind(), v1::Outcome::SUCCEEDED);
  const auto lacks = OutcomeOf(Succeeded({{"acc", 0.9}}), WantsAccuracy());
  EXPECT_EQ(lacks.kind(), v1::Outcome::FAILED);
  EXPECT_EQ(lacks.failure(), v1::FAILURE_CLASS_TRIAL);
  EXPECT_THAT(lacks.cause(), HasSubstr("accuracy"));
}

TEST(OutcomeOf, ANonFiniteObjectiveIsInfeasible) {
  const auto outcome =
      OutcomeOf(Succeeded({{"accuracy", NAN}}), WantsAccuracy());
  EXPECT_EQ(outcome.kind(), v1::Outcome::INFEASIBLE);
}

TEST(OutcomeOf, StoppedWithoutAnOrderIsTheTrainersFault) {
  FinishMessage finish;
  finish.state = FinishMessage::State::kStopped;
  EXPECT_EQ(OutcomeOf(finish, {}).kind(), v1::Outcome::FAILED);
}

// Wait statuses as the kernel encodes them.
constexpr int Exited(int code) { return code << 8; }
constexpr int Killed(int signal) { return signal; }

TEST(OutcomeOfExit, WhoIsToBlame) {
  const auto blame = [](int status, bool spoke) {
    return OutcomeOfExit(status, spoke).failure();
  };
  EXPECT_EQ(blame(Exited(1), true), v1::FAILURE_CLASS_TRIAL);
  EXPECT_EQ(blame(Exited(0), true), v1::FAILURE_CLASS_TRIAL);
  EXPECT_EQ(blame(Killed(11), true), v1::FAILURE_CLASS_TRIAL);
  EXPECT_EQ(blame(Killed(9), true), v1::FAILURE_CLASS_OUT_OF_MEMORY);
  EXPECT_EQ(blame(Exited(137), true), v1::FAILURE_CLASS_OUT_OF_MEMORY);
  EXPECT_EQ(blame(Killed(15), true), v1::FAILURE_CLASS_INFRASTRUCTURE);
  EXPECT_EQ(blame(Exited(75), true), v1::FAILURE_CLASS_INFRASTRUCTURE);
  EXPECT_EQ(blame(Exited(127), false), v1::FAILURE_CLASS_INFRASTRUCTURE);
  EXPECT_EQ(blame(Exited(127), true), v1::FAILURE_CLASS_TRIAL);
  EXPECT_THAT(OutcomeOfExit(Exited(127), false).cause(), HasSubstr("FL-5001"));
  EXPECT_THAT(OutcomeOfExit(Exited(3), true).cause(), HasSubstr("code 3"));
}

}  // namespace
}  // namespace frostline::agent
