// SPDX-License-Identifier: Apache-2.0
#include "study/objective.h"

#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "study/history.h"
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

Observation Seen(std::int64_t number, TrialState state) {
  Observation observation;
  observation.number = number;
  observation.state = state;
  return observation;
}

TEST(History, KeepsTheNewestOfEachTrialAndLogsEveryChange) {
  History history;
  history.Put(Seen(4, TrialState::kRunning));
  history.Put(Seen(0, TrialState::kRunning));
  history.Put(Seen(4, TrialState::kSucceeded));
  ASSERT_EQ(history.size(), 2u);
  EXPECT_EQ(history.Find(4)->state, TrialState::kSucceeded);
  EXPECT_EQ(history.Find(1), nullptr);
  EXPECT_EQ(history.changes(), (std::vector<std::uint32_t>{0, 1, 0}));
  EXPECT_EQ(history.revision(), 3);
}

TEST(History, AReportIsAddedWithoutCopyingTheCurve) {
  constexpr std::int64_t kSteps = 100'000;
  History history;
  history.Put(Seen(0, TrialState::kRunning));
  const std::vector<IntermediateValue>& curve = history.Find(0)->intermediate;
  const IntermediateValue* place = nullptr;
  int moves = 0;
  for (std::int64_t step = 0; step < kSteps; ++step) {
    history.Append(0, {.step = step, .value = 0.5});
    if (curve.data() != place) ++moves;
    place = curve.data();
  }
  history.Amend(
      0, [](Observation& trial) { trial.state = TrialState::kSucceeded; });
  EXPECT_EQ(history.Find(0)->intermediate.data(), place);
  EXPECT_EQ(history.Find(0)->state, TrialState::kSucceeded);
  EXPECT_LT(moves, 40);
  EXPECT_EQ(history.revision(), kSteps + 2);
  EXPECT_EQ(history.CurvesBefore(0), 0u);
}

TEST(History, TakesNoReportOfAnOldStepOrAnUnknownTrial) {
  History history;
  history.Put(Seen(0, TrialState::kRunning));
  history.Append(0, {.step = 3, .value = 0.5});
  history.Append(0, {.step = 3, .value = 0.6});
  history.Append(0, {.step = 2, .value = 0.6});
  history.Append(1, {.step = 4, .value = 0.6});
  history.Amend(1, [](Observation& trial) { trial.number = 7; });
  ASSERT_EQ(history.Find(0)->intermediate.size(), 1u);
  EXPECT_EQ(history.Find(0)->intermediate[0].value, 0.5);
  EXPECT_EQ(history.revision(), 2);
}

TEST(History, CountsCurvesThatBecameOtherOnes) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  History history;
  Observation trial = Seen(0, TrialState::kRunning);
  history.Put(trial);
  trial.intermediate = {{1, kNaN}};
  history.Put(trial);
  trial.intermediate.push_back({2, 0.5});
  history.Put(trial);
  EXPECT_EQ(history.CurvesBefore(0), 0u);  // they became longer
  trial.intermediate[1].value = 0.6;
  history.Put(trial);
  EXPECT_EQ(history.CurvesBefore(0), 1u);
  history.Put(Seen(0, TrialState::kRunning));
  EXPECT_EQ(history.CurvesBefore(0), 2u);
}

TEST(Trial, FiveStatesAreTerminal) {
  EXPECT_FALSE(IsTerminal(TrialState::kQueued));
  EXPECT_FALSE(IsTerminal(TrialState::kRunning));
  for (const TrialState state :
       {TrialState::kSucceeded, TrialState::kPruned, TrialState::kInfeasible,
        TrialState::kFailed, TrialState::kCancelled}) {
    EXPECT_TRUE(IsTerminal(state)) << NameOf(state);
  }
}

// Returns which values are off the scale, as "better" and "worse" by place.
std::string OffScaleIn(const Objective& objective, std::vector<double> values) {
  for (double& value : values) value = AsLoss(objective, value);
  std::string told;
  const std::vector<ValueScale> scales = FindOffScale(objective, values);
  for (std::size_t i = 0; i < scales.size(); ++i) {
    if (scales[i] == ValueScale::kOn) continue;
    absl::StrAppend(&told,
                    scales[i] == ValueScale::kOffBetter ? "better " : "worse ",
                    i, ";");
  }
  return told;
}

// Twenty values from 0.6 up, and others behind them.
std::vector<double> Twenty(const std::vector<double>& others) {
  std::vector<double> values;
  for (int i = 0; i < 20; ++i) values.push_back(0.6 + 0.01 * i);
  values.insert(values.end(), others.begin(), others.end());
  return values;
}

const Objective kLossObjective = {"loss", Direction::kMinimize};
const Objective kAccuracy = {"accuracy", Direction::kMaximize};

TEST(OffScale, AFewValuesThatTheMetricCannotHaveAreMistakes) {
  EXPECT_EQ(OffScaleIn(kAccuracy, Twenty({})), "");
  EXPECT_EQ(OffScaleIn(kAccuracy, Twenty({1.3})), "better 20;");
  EXPECT_EQ(OffScaleIn(kAccuracy, Twenty({-0.2})), "worse 20;");
  EXPECT_EQ(OffScaleIn(kLossObjective, Twenty({-7.0})), "better 20;");
}

// A loss that is a density's falls below 0, whatever its name suggests.
TEST(OffScale, ALittleBetterThanPresumedIsNoMistakeUnlessTheRangeIsStated) {
  std::vector<double> values;
  for (int i = 0; i < 20; ++i) values.push_back(0.05 * i);
  values.push_back(-0.1);
  EXPECT_EQ(OffScaleIn(kLossObjective, values), "");
  Objective stated = kLossObjective;
  stated.range = MetricRange{.lo = 0.0};
  EXPECT_EQ(OffScaleIn(stated, values), "better 20;");
}

// A study in percent is no study of mistakes.
TEST(OffScale, ManyOutsideSayThatTheRangeIsNotTheMetrics) {
  EXPECT_EQ(OffScaleIn(kAccuracy, Twenty({60.0, 70.0, 80.0})), "");
}

TEST(OffScale, WhatIsFarBeyondAllOthersHasDiverged) {
  EXPECT_EQ(OffScaleIn(kLossObjective, Twenty({1e6, 2e6})),
            "worse 20;worse 21;");
  // From .6 to .79: up to .79 + 10 times .79 it is a bad run.
  EXPECT_EQ(OffScaleIn(kLossObjective, Twenty({8.6})), "");
  EXPECT_EQ(OffScaleIn(kLossObjective, Twenty({8.8})), "worse 20;");
}

// One layer decides; hardly anything else matters, and there is no noise.
TEST(OffScale, TheEffectOfALayerIsNotOffTheScale) {
  std::vector<double> accuracies, losses;
  for (int i = 0; i < 40; ++i) {
    const bool is_bad = i % 12 == 0;
    accuracies.push_back((is_bad ? 0.61 : 0.91) + 1e-4 * (i % 3));
    losses.push_back((is_bad ? 1.2 : 0.2) + 1e-4 * (i % 3));
  }
  EXPECT_EQ(OffScaleIn(kAccuracy, accuracies), "");
  EXPECT_EQ(OffScaleIn(kLossObjective, losses), "");
}

TEST(OffScale, EqualValuesHaveNoScale) {
  EXPECT_EQ(OffScaleIn(kLossObjective, {1, 1, 1, 1, 1, 1, 1, 1, 1, 900}), "");
}

}  // namespace
}  // namespace frostline
