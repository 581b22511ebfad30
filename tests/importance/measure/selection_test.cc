// SPDX-License-Identifier: Apache-2.0
#include "importance/measure/selection.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/rng.h"
#include "gtest/gtest.h"
#include "importance/evaluator.h"
#include "importance/plan/study_plan.h"
#include "tests/importance/plan/plan_trials.h"
#include "tests/importance/trials.h"
#include "tests/support/objectives.h"
#include "tests/support/status_matchers.h"

namespace frostline::importance {
namespace {

// Runs of points 0, 1, 2, …
struct Runs {
  std::vector<Point> points;
  std::vector<double> losses;
  std::vector<std::uint64_t> seeds;

  void Add(double x, double loss, std::uint64_t seed) {
    points.push_back({x});
    losses.push_back(loss);
    seeds.push_back(seed);
  }
  RepeatNoise Noise() const {
    std::vector<const Point*> pointers;
    for (const Point& point : points) pointers.push_back(&point);
    return NoiseAtEqualPoints(pointers, losses, seeds);
  }
};

TEST(RepeatNoise, IsPooledOverThePointsThatWereRepeated) {
  Runs runs;
  runs.Add(0, 1.0, 1);
  runs.Add(0, 3.0, 2);  // squares 2, one free
  runs.Add(1, 5.0, 1);
  runs.Add(1, 5.0, 2);
  runs.Add(1, 8.0, 3);  // squares 6, two free
  runs.Add(2, 100.0, 1);
  EXPECT_DOUBLE_EQ(runs.Noise().variance, 8.0 / 3.0);
  EXPECT_DOUBLE_EQ(runs.Noise().freedom, 3.0);
}

TEST(RepeatNoise, FindsTheVarianceOfSeedsWhateverThePointsEffects) {
  Rng rng(5, 0);
  Runs runs;
  for (int point = 0; point < 400; ++point) {
    const double effect = 10.0 * rng.Uniform();
    for (std::uint64_t run = 1; run <= 3; ++run) {
      runs.Add(point, effect + 0.02 * rng.Normal(), run);
    }
  }
  EXPECT_NEAR(std::sqrt(runs.Noise().variance), 0.02, 0.001);
  EXPECT_EQ(runs.Noise().freedom, 800.0);
}

TEST(RepeatNoise, TheSameRunAgainTellsNothing) {
  Runs runs;
  runs.Add(0, 1.0, 7);
  runs.Add(0, 1.0, 7);  // a retry
  EXPECT_TRUE(std::isnan(runs.Noise().variance));
  EXPECT_EQ(runs.Noise().freedom, 0.0);
  runs.Add(0, 3.0, 8);
  EXPECT_DOUBLE_EQ(runs.Noise().variance, 2.0);
}

TEST(RepeatNoise, AProgramThatIgnoresItsSeedStillShowsItsNoise) {
  Runs runs;
  runs.Add(0, 1.0, 7);
  runs.Add(0, 3.0, 7);
  EXPECT_DOUBLE_EQ(runs.Noise().variance, 2.0);
}

TEST(RepeatNoise, UnknownSeedsAreEqualToNone) {
  Runs runs;
  runs.Add(0, 1.0, 0);
  runs.Add(0, 1.0, 0);
  EXPECT_EQ(runs.Noise().variance, 0.0);
  EXPECT_EQ(runs.Noise().freedom, 1.0);
}

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

constexpr double kLuck = 0.03;
constexpr double kRest = 0.004;

double Truth(const Point& p) { return TwoMatter(p) - 0.15; }

// 50 points ran with the first seed, which was lucky or not for all of them;
// the three that led ran with two other seeds, too: `seeds: paired`, `repeat:
// 3`.
History PairedSearch(const Space& space, std::uint64_t number,
                     double deviation = kLuck) {
  Rng rng(number);
  double luck[3];
  for (double& of_seed : luck) of_seed = deviation * rng.Normal();
  const auto run = [&](const Point& point, std::uint64_t seed) {
    return Truth(point) + luck[seed - 1] + kRest * rng.Normal();
  };
  History drawn = UniformTrials(
      space, 50, [&](const Point& point, Rng&) { return run(point, 1); },
      number);
  std::vector<Observation> trials = drawn.trials();
  for (Observation& trial : trials) trial.seed = 1;
  std::vector<Observation> leaders = trials;
  std::sort(leaders.begin(), leaders.end(), [](const auto& a, const auto& b) {
    return a.values[0] > b.values[0];
  });
  for (std::size_t i = 0; i < 6; ++i) {
    const std::uint64_t seed = 2 + i % 2;
    trials.push_back(Succeeded(static_cast<std::int64_t>(trials.size()),
                               leaders[i / 2].point,
                               run(leaders[i / 2].point, seed)));
    trials.back().seed = seed;
  }
  History history;
  for (Observation& trial : trials) history.Put(std::move(trial));
  return history;
}

Selection Select(const Space& space, const History& history) {
  return SelectTrials(space, kAccuracy, history, {}).value();
}

// Over many seeds the plan's point gives what it promised. With the luck of the
// first seed left in, 40 of 60 such promises held; without it 59 do.
TEST(SharedLuck, APlanPromisesWhatOtherSeedsGiveToo) {
  constexpr int kStudies = 40;
  const Space space = Modules(5, 6);
  int held = 0;
  for (int study = 0; study < kStudies; ++study) {
    const History history =
        PairedSearch(space, static_cast<std::uint64_t>(study) + 1);
    const auto plan = MakePlan(space, kAccuracy, history, {});
    ASSERT_OK(plan);
    const double truth = Truth(plan->point);
    held += plan->predicted_score.lo95 <= truth &&
            truth <= plan->predicted_score.hi95;
  }
  EXPECT_GE(held, 36);
}

// How far main effects are off those of the same trials without luck, summed
// over modules.
double ErrorOfEffects(const Space& space, std::uint64_t number) {
  EvaluateOptions options;
  options.evaluator = "fanova";
  const auto with =
      Evaluate(space, kAccuracy, PairedSearch(space, number), options);
  const auto without =
      Evaluate(space, kAccuracy, PairedSearch(space, number, 0.0), options);
  EXPECT_OK(with);
  EXPECT_OK(without);
  double error = 0.0;
  for (std::size_t m = 0; m < with->parameters.size(); ++m) {
    error += std::abs(with->parameters[m].main.value -
                      without->parameters[m].main.value);
  }
  return error;
}

// With the luck left in, the error is .105; without it .008.
TEST(SharedLuck, ModulesOfTheLeadersAreNotBlamedForTheirSeeds) {
  const Space space = Modules(5, 6);
  double error = 0.0;
  for (std::uint64_t number = 1; number <= 10; ++number) {
    error += ErrorOfEffects(space, number) / 10;
  }
  EXPECT_LT(error, 0.03);
}

TEST(SharedLuck, IsFoundFromTheLeadersAlone) {
  const Space space = Modules(5, 6);
  const History history = PairedSearch(space, 3);
  const statistics::SeedLuck luck = FindSharedLuck(Select(space, history));
  EXPECT_EQ(luck.seeds, 3u);
  EXPECT_NEAR(std::sqrt(luck.variance), kLuck, 0.7 * kLuck);
  EXPECT_EQ(luck.of_run[0], luck.of_run[1]);  // both of the first seed
}

// Nothing that is drawn later may change where there is no such luck.
TEST(SharedLuck, WithoutSharedSeedsThereIsNoneAndNothingIsDrawn) {
  const Space space = Modules(5, 6);
  const History history = UniformTrials(space, 50, TwoMatterNoisily);
  const statistics::SeedLuck luck = FindSharedLuck(Select(space, history));
  EXPECT_EQ(luck.variance, 0.0);
  EXPECT_EQ(*std::max_element(luck.of_run.begin(), luck.of_run.end()), 0.0);
  Rng drawn(5), fresh(5);
  EXPECT_EQ(DrawLuck(luck, 5.0, drawn), 0.0);
  EXPECT_EQ(drawn.Normal(), fresh.Normal());
}

TEST(SharedLuck, ManyRunsAndManySeedsLeaveLittleOpen) {
  const auto spread = [](const statistics::SeedLuck& luck, double runs) {
    Rng rng(1);
    double squares = 0.0;
    for (int i = 0; i < 4000; ++i) {
      const double drawn = DrawLuck(luck, runs, rng);
      squares += drawn * drawn / 4000;
    }
    return squares;
  };
  EXPECT_NEAR(spread({{}, 1.0, 100}, 1.0), 1.01, 0.1);
  EXPECT_NEAR(spread({{}, 1.0, 100}, 10.0), 0.11, 0.02);
  EXPECT_GT(spread({{}, 1.0, 5}, 10.0), 0.3);
}

}  // namespace
}  // namespace frostline::importance
