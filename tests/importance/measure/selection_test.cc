// SPDX-License-Identifier: Apache-2.0
#include "importance/measure/selection.h"

#include <limits>

#include "tests/importance/trials.h"
#include "tests/support/status_matchers.h"

namespace frostline::importance {
namespace {

const std::vector<Objective> kBoth = {{"loss", Direction::kMinimize},
                                      {"seconds", Direction::kMinimize}};

// Trial n has loss n and, the other way round, 100 - n seconds.
History Opposed(int trials) {
  History history;
  for (int n = 0; n < trials; ++n) {
    Observation trial = Succeeded(n, {static_cast<double>(n % 3), 0}, n);
    trial.values.push_back(100.0 - n);
    history.Put(trial);
  }
  return history;
}

std::vector<std::int64_t> NumbersOf(const Selection& selection) {
  std::vector<std::int64_t> numbers;
  for (const Observation* const trial : selection.trials) {
    numbers.push_back(trial->number);
  }
  return numbers;
}

TEST(Selection, NamesItsTrialsInTheOrderOfItsPoints) {
  const History history = Opposed(20);
  ASSERT_OK_AND_ASSIGN(
      const Selection selection,
      SelectTrials(LevelSpace(2, 3), kBoth, history, EvaluateOptions()));
  ASSERT_EQ(selection.trials.size(), 20u);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(selection.trials[i]->number, static_cast<std::int64_t>(i));
    EXPECT_EQ(selection.points[i], &selection.trials[i]->point);
    EXPECT_EQ(selection.losses[i], selection.trials[i]->values[0]);
  }
  EXPECT_EQ(selection.target, kBoth.data());
}

TEST(Selection, TheQuantileGoesByTheTargetUnlessToldOtherwise) {
  const History history = Opposed(20);
  EvaluateOptions options;
  options.target = "seconds";
  options.top_quantile = 0.5;
  ASSERT_OK_AND_ASSIGN(Selection selection,
                       SelectTrials(LevelSpace(2, 3), kBoth, history, options));
  EXPECT_EQ(NumbersOf(selection).front(), 10);  // the quick ones are late
  options.best_by = "loss";
  ASSERT_OK_AND_ASSIGN(selection,
                       SelectTrials(LevelSpace(2, 3), kBoth, history, options));
  EXPECT_EQ(NumbersOf(selection).back(), 9);
  EXPECT_EQ(selection.losses[0], 100.0);  // still of the target
  EXPECT_EQ(selection.left_out, 10);
}

TEST(Selection, BestIsMostWhereTheObjectiveIsToBeMaximised) {
  const std::vector<Objective> objectives = {{"accuracy", Direction::kMaximize},
                                             {"seconds", Direction::kMinimize}};
  EvaluateOptions options;
  options.target = "seconds";
  options.best_by = "accuracy";
  options.top_quantile = 0.5;
  ASSERT_OK_AND_ASSIGN(
      const Selection selection,
      SelectTrials(LevelSpace(2, 3), objectives, Opposed(20), options));
  EXPECT_EQ(selection.losses.front(), 90.0);
}

TEST(Selection, AnObjectiveThatThereIsNotIsRefusedByTheOptionsName) {
  EvaluateOptions options;
  options.best_by = "f1";
  EXPECT_THAT(SelectTrials(LevelSpace(2, 3), kBoth, Opposed(20), options),
              FailsAt(ErrorId::kRequestInvalid, "options.best_by"));
  options = EvaluateOptions();
  options.target = "f1";
  EXPECT_THAT(SelectTrials(LevelSpace(2, 3), kBoth, Opposed(20), options),
              FailsAt(ErrorId::kRequestInvalid, "options.target"));
  EXPECT_THAT(
      SelectTrials(LevelSpace(2, 3), {}, Opposed(20), EvaluateOptions()),
      FailsAt(ErrorId::kRequestInvalid, "options.target"));
}

TEST(Selection, KnowsWhichPointsCouldNotBeTrained) {
  History history = Opposed(20);
  const auto put = [&history](TrialState state, Point point) {
    Observation trial;
    trial.number = static_cast<std::int64_t>(history.size());
    trial.state = state;
    trial.point = std::move(point);
    history.Put(trial);
  };
  put(TrialState::kInfeasible, {2, 2});
  put(TrialState::kInfeasible, {7, 2});  // of another space
  put(TrialState::kFailed, {1, 2});      // no fault of the point
  EvaluateOptions options;
  ASSERT_OK_AND_ASSIGN(Selection selection,
                       SelectTrials(LevelSpace(2, 3), kBoth, history, options));
  ASSERT_EQ(selection.diverged.size(), 1u);
  EXPECT_EQ(selection.diverged[0]->number, 20);
  EXPECT_EQ(selection.left_out, 3);
  options.top_quantile = 0.5;
  ASSERT_OK_AND_ASSIGN(selection,
                       SelectTrials(LevelSpace(2, 3), kBoth, history, options));
  EXPECT_TRUE(selection.diverged.empty());
}

TEST(Selection, ATrialThatCannotBeRankedIsLeftOutOfTheBestOnly) {
  History history = Opposed(20);
  Observation odd = Succeeded(20, {1, 0}, -1.0);
  odd.values.push_back(std::numeric_limits<double>::quiet_NaN());
  history.Put(odd);
  EvaluateOptions options;
  options.best_by = "seconds";
  EXPECT_EQ(
      SelectTrials(LevelSpace(2, 3), kBoth, history, options)->trials.size(),
      21u);
  options.top_quantile = 0.95;
  ASSERT_OK_AND_ASSIGN(const Selection selection,
                       SelectTrials(LevelSpace(2, 3), kBoth, history, options));
  EXPECT_EQ(NumbersOf(selection).back(), 19);
  EXPECT_EQ(selection.left_out, 2);
}

TEST(Selection, FewTrialsAreAnErrorButCanBeAskedFor) {
  for (const int trials : {0, 1, 2, kMinTrials - 1}) {
    const History history = Opposed(trials);
    EXPECT_THAT(SelectTrials(LevelSpace(2, 3), kBoth, history, {}),
                FailsWith(ErrorId::kTrialsTooFew));
    EXPECT_EQ(
        FindUsableTrials(LevelSpace(2, 3), kBoth, history, {})->trials.size(),
        static_cast<std::size_t>(trials));
  }
}

TEST(Selection, PrunedStrayAndInfiniteTrialsAreCountedAndLeftOut) {
  History history = Opposed(20);
  Observation odd = *history.Find(3);
  odd.state = TrialState::kPruned;
  history.Put(odd);
  odd = *history.Find(4);
  odd.point[0] = 7.0;  // no such level
  history.Put(odd);
  odd = *history.Find(5);
  odd.values[0] = -std::numeric_limits<double>::infinity();
  history.Put(odd);
  odd = *history.Find(6);
  odd.values.pop_back();
  history.Put(odd);
  ASSERT_OK_AND_ASSIGN(const Selection selection,
                       SelectTrials(LevelSpace(2, 3), kBoth, history, {}));
  EXPECT_EQ(selection.trials.size(), 16u);
  EXPECT_EQ(selection.left_out, 4);
}

}  // namespace
}  // namespace frostline::importance
