// SPDX-License-Identifier: Apache-2.0
#include "study/objective.h"

#include <limits>

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace frostline {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNanMetric = std::numeric_limits<double>::quiet_NaN();
constexpr MetricRange kShare{0.0, 1.0};
constexpr MetricRange kCorrelation{-1.0, 1.0};
constexpr MetricRange kPositive{0.0, kInfinity};
constexpr MetricRange kAnything{};

Objective Accuracy() { return {"accuracy", Direction::kMaximize}; }
Objective Reward(MetricRange range) {
  return {"reward", Direction::kMaximize, range};
}

TEST(MetricRange, IsPresumedOfEveryMetricThatTheTrainerReports) {
  for (const char* const name :
       {"accuracy", "f1", "f1_macro", "f1_micro", "precision", "recall"}) {
    EXPECT_EQ(PresumedRange(name), kShare) << name;
  }
  for (const char* const name : {"mcc", "pearson", "spearman"}) {
    EXPECT_EQ(PresumedRange(name), kCorrelation) << name;
  }
  for (const char* const name : {"loss", "mse", "rmse", "train_loss", "steps",
                                 "train_seconds", "trained_parameters"}) {
    EXPECT_EQ(PresumedRange(name), kPositive) << name;
  }
}

TEST(MetricRange, IsTheSameForEverySplitAndFurtherDataSet) {
  for (const char* const name :
       {"test.accuracy", "my.other-set.accuracy", "validation/accuracy",
        "val_accuracy", "eval/val_accuracy", "Accuracy", "train_accuracy"}) {
    EXPECT_EQ(PresumedRange(name), kShare) << name;
  }
  EXPECT_EQ(PresumedRange("imdb.mcc"), kCorrelation);
  EXPECT_EQ(PresumedRange("validation_loss"), kPositive);
}

TEST(MetricRange, IsNotPresumedOfNamesThatOnlyLookAlike) {
  for (const char* const name :
       {"reward", "auc", "bleu", "rouge", "accuracy_gain", "inaccuracy",
        "accuracy.", "loss/", "", ".", "val_", "log_loss_ratio"}) {
    EXPECT_EQ(PresumedRange(name), kAnything) << name;
  }
}

TEST(MetricRange, HoldsItsEndsAndWhatRoundingMakesOfThem) {
  EXPECT_TRUE(kShare.Holds(0.0));
  EXPECT_TRUE(kShare.Holds(1.0));
  EXPECT_TRUE(kShare.Holds(1.0000001));
  EXPECT_FALSE(kShare.Holds(1.001));
  EXPECT_FALSE(kShare.Holds(-0.001));
  EXPECT_FALSE(kShare.Holds(kNanMetric));
  EXPECT_TRUE(kPositive.Holds(1e300));
  EXPECT_FALSE(kPositive.Holds(-1.0));
  EXPECT_EQ(kShare.Clamp(1.0000001), 1.0);
  EXPECT_EQ(kPositive.Clamp(-3.0), 0.0);
  EXPECT_EQ(kAnything.Clamp(-3.0), -3.0);
}

TEST(EffectiveRange, WhatTheStudyStatesGoesBeforeTheName) {
  Objective percent = Accuracy();
  EXPECT_EQ(EffectiveRange(percent, {.9}).source, RangeSource::kPresumed);
  percent.range = MetricRange{0.0, 100.0};
  const RangeInForce stated = EffectiveRange(percent, {.9, 93.0});
  EXPECT_EQ(stated.source, RangeSource::kStated);
  EXPECT_EQ(stated.range, (MetricRange{0.0, 100.0}));
  percent.range = MetricRange();  // stated: anything
  EXPECT_EQ(EffectiveRange(percent, {.9}).range, kAnything);
  EXPECT_EQ(EffectiveRange({"reward", {}}, {.9}).source, RangeSource::kUnknown);
}

TEST(EffectiveRange, OneFiniteValueOutsideDropsIt) {
  const RangeInForce range = EffectiveRange(Accuracy(), {.5, 93.4, 101.0});
  EXPECT_EQ(range.range, kAnything);
  EXPECT_EQ(range.claimed, kShare);
  ASSERT_TRUE(range.broken_by.has_value());
  EXPECT_EQ(*range.broken_by, 1u);
  EXPECT_EQ(range.broken_value, 93.4);
  EXPECT_EQ(OutOfRangeSentence(Accuracy(), range, 7),
            "trial 7 has accuracy 93.4, outside of the presumed 0 … 1: "
            "predictions are bound to no range. A study can state it: "
            "{range: [lo, hi]}");
  const Objective reward = Reward({0.0, 1.0});
  const RangeInForce stated = EffectiveRange(reward, {-2.0});
  EXPECT_EQ(stated.range, kAnything);
  EXPECT_NE(OutOfRangeSentence(reward, stated, 0).find("stated 0 … 1"),
            std::string::npos);
}

TEST(EffectiveRange, ValuesThatAreNotFiniteBreakNothing) {
  const RangeInForce range =
      EffectiveRange(Accuracy(), {kNanMetric, kInfinity, -kInfinity, .9});
  EXPECT_EQ(range.range, kShare);
  EXPECT_FALSE(range.broken_by.has_value());
}

TEST(MetricRange, IsDescribedInWords) {
  EXPECT_EQ(DescribeRange(kShare), "0 … 1");
  EXPECT_EQ(DescribeRange(kPositive), "0 or more");
  EXPECT_EQ(DescribeRange({-kInfinity, 1.0}), "at most 1");
  EXPECT_EQ(DescribeRange(kAnything), "any number");
}

TEST(Objective, AStatedRangeRisesAndItsEndsAreNumbers) {
  EXPECT_OK(CheckObjectives({Reward({0.0, 1.0}), Accuracy()}));
  EXPECT_OK(CheckObjectives({Reward({0.0, kInfinity})}));
  EXPECT_OK(CheckObjectives({Reward({})}));
  for (const MetricRange bad :
       {MetricRange{1.0, 0.0}, MetricRange{1.0, 1.0},
        MetricRange{kNanMetric, 1.0}, MetricRange{0.0, kNanMetric},
        MetricRange{kInfinity, kInfinity}}) {
    const absl::Status refused = CheckObjectives({Accuracy(), Reward(bad)});
    EXPECT_THAT(refused, FailsWith(ErrorId::kRangeInvalid));
    EXPECT_EQ(DetailOf(refused)->field, "objectives[1].range");
    EXPECT_NE(DetailOf(refused)->fix, "");
  }
}

TEST(Objective, SmallerLossIsBetterInBothDirections) {
  EXPECT_LT(AsLoss({"accuracy", Direction::kMaximize}, 0.9),
            AsLoss({"accuracy", Direction::kMaximize}, 0.8));
  EXPECT_LT(AsLoss({"loss", Direction::kMinimize}, 0.1),
            AsLoss({"loss", Direction::kMinimize}, 0.2));
}

TEST(Objective, EachNeedsAMetricOfItsOwn) {
  EXPECT_OK(CheckObjectives({{"a", Direction::kMinimize}}));
  EXPECT_THAT(CheckObjectives({}), FailsWith(ErrorId::kObjectiveInvalid));
  EXPECT_THAT(CheckObjectives({{"", Direction::kMinimize}}),
              FailsWith(ErrorId::kObjectiveInvalid));
  EXPECT_THAT(CheckObjectives(
                  {{"a", Direction::kMinimize}, {"a", Direction::kMaximize}}),
              FailsWith(ErrorId::kObjectiveInvalid));
}

}  // namespace
}  // namespace frostline
