// SPDX-License-Identifier: Apache-2.0
#include "server/search/answers.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <utility>

#include "base/rng.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sampler/factory.h"
#include "server/search/proposer.h"
#include "tests/server/example_study.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// Four layers of three rates; only layer.1 matters, by whether it is trained.
CheckedStudy StudyOfOneLayer(Purpose purpose = Purpose::kBoth) {
  v1::StudySpec spec = ExampleSpec();
  spec.mutable_model()->set_layers(4);
  spec.mutable_sampler()->set_name("levels-gp");
  spec.set_purpose(purpose == Purpose::kBoth ? v1::PURPOSE_BOTH
                                             : v1::PURPOSE_BEST);
  v1::StudySettings settings;
  settings.mutable_budget()->set_trials(100);
  return *CheckStudy(spec, settings, ExampleLease());
}

CheckedStudy Asking(CheckedStudy study, double tolerance, double probability) {
  auto& frontier = *study.settings.mutable_stop_when()->mutable_frontier();
  frontier.set_tolerance(tolerance);
  frontier.set_probability(probability);
  return study;
}

// Trials as the coordinator proposes them, one after the other.
class StudyRun {
 public:
  explicit StudyRun(CheckedStudy study)
      : study_(std::move(study)),
        sampler_(*sampler::MakeSampler(study_.sampler, study_.space,
                                       study_.objectives)) {}

  // Returns the point of the next trial, which has ended.
  Point Next() {
    const auto number = static_cast<std::int64_t>(history.size());
    const auto made = MakeProposal(study_, *sampler_, history, number);
    EXPECT_OK(made);
    Observation trial;
    trial.number = number;
    trial.state = TrialState::kSucceeded;
    trial.point = made->point;
    trial.values = {0.7 + 0.2 * (made->point[1] > 0.0) + 0.01 * luck_.Normal()};
    history.Put(trial);
    return made->point;
  }
  void Until(std::size_t trials) {
    while (history.size() < trials) Next();
  }
  const CheckedStudy& study() const { return study_; }

  History history;

 private:
  const CheckedStudy study_;
  std::unique_ptr<sampler::Sampler> sampler_;
  Rng luck_{3};
};

TEST(Answers, AShareOfTheTrialsIsForThemOnceMuchHasEnded) {
  const CheckedStudy study = StudyOfOneLayer();
  int asked = 0;
  for (std::int64_t number = 0; number < 224; ++number) {
    const bool asks = IsForAnswer(study, number);
    EXPECT_FALSE(asks && number < kFirstAnswer) << number;
    asked += asks;
  }
  EXPECT_NEAR(asked, 60, 2);
  EXPECT_FALSE(IsForAnswer(study, kMostAsked + 1));
}

TEST(Answers, AStudyForTheBestAloneAsksNothing) {
  const CheckedStudy study = StudyOfOneLayer(Purpose::kBest);
  for (std::int64_t number = 0; number < 100; ++number) {
    EXPECT_FALSE(IsForAnswer(study, number));
  }
}

TEST(Answers, WhereNothingHasEndedNothingIsAsked) {
  const auto point = PointForAnswer(StudyOfOneLayer(), History(), {});
  ASSERT_OK(point);
  EXPECT_EQ(*point, std::nullopt);
}

TEST(Answers, ATrialForAnAnswerIsAFunctionOfTheHistory) {
  StudyRun run(StudyOfOneLayer());
  run.Until(30);
  const auto once = PointForAnswer(run.study(), run.history, {});
  const auto again = PointForAnswer(run.study(), run.history, {});
  ASSERT_OK(once);
  ASSERT_TRUE(once->has_value());
  EXPECT_EQ(*once, *again);
  EXPECT_OK(run.study().space.Check(**once));
}

TEST(Answers, AStopIsNoAnswer) {
  StudyRun run(StudyOfOneLayer());
  run.Until(30);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(absl::IsCancelled(
      PointForAnswer(run.study(), run.history, stop.get_token()).status()));
  EXPECT_TRUE(absl::IsCancelled(
      FindAnswer(Asking(run.study(), 0.05, 0.9), run.history, stop.get_token())
          .status()));
}

TEST(Answers, ASettledFrontierIsTheAnswer) {
  StudyRun run(Asking(StudyOfOneLayer(), 0.05, 0.9));
  run.Until(static_cast<std::size_t>(kFirstAnswer) - 1);
  EXPECT_THAT(*FindAnswer(run.study(), run.history, {}), IsEmpty());
  run.Until(60);
  EXPECT_THAT(*FindAnswer(run.study(), run.history, {}),
              HasSubstr("training 1 of 4 modules (layer.1) is enough"));
}

TEST(Answers, NobodyIsToldWhoDidNotAsk) {
  StudyRun run(StudyOfOneLayer());
  run.Until(60);
  EXPECT_THAT(*FindAnswer(run.study(), run.history, {}), IsEmpty());
}

// Nobody knows to a ten-thousandth from runs that differ by a hundredth.
TEST(Answers, WhatIsOpenEndsNoStudy) {
  StudyRun run(Asking(StudyOfOneLayer(), 1e-4, 0.999));
  run.Until(40);
  EXPECT_THAT(*FindAnswer(run.study(), run.history, {}), IsEmpty());
}

}  // namespace
}  // namespace frostline::server
