// SPDX-License-Identifier: Apache-2.0
//
// Trials that could not be trained have no value, and yet say something: where
// they lie, nothing good was found.
#include <functional>

#include "importance/evaluator.h"
#include "tests/importance/trials.h"
#include "tests/support/objectives.h"
#include "tests/support/status_matchers.h"

namespace frostline::importance {
namespace {

using Where = std::function<bool(const Point&)>;

// What the first parameter has no hand in, but for where it diverges.
double SecondAlone(const Point& point, Rng& rng) {
  return 0.1 * point[1] + 0.02 * rng.Normal();
}

History WithInfeasible(const History& all, const Where& diverges) {
  History history;
  for (Observation trial : all.trials()) {
    if (diverges(trial.point)) {
      trial.state = TrialState::kInfeasible;
      trial.values.clear();
    }
    history.Put(std::move(trial));
  }
  return history;
}

History Without(const History& all, const Where& diverges) {
  History history;
  for (const Observation& trial : all.trials()) {
    if (!diverges(trial.point)) history.Put(trial);
  }
  return history;
}

double ShareOfFirst(const Space& space, const History& history) {
  const auto report = Evaluate(space, kLoss, history, EvaluateOptions());
  EXPECT_OK(report);
  return report.ok() ? report->parameters[0].main.value : -1.0;
}

TEST(Diverged, ALevelAtWhichAllDivergeMatters) {
  const Space space = LevelSpace(3, 4);
  const History all = UniformTrials(space, 100, SecondAlone);
  const Where diverges = [](const Point& p) { return p[0] == 3.0; };
  EXPECT_LT(ShareOfFirst(space, Without(all, diverges)), 0.05);
  EXPECT_GT(ShareOfFirst(space, WithInfeasible(all, diverges)), 0.2);
}

TEST(Diverged, ARateTooHighMattersThoughNoTrialWithAValueIsNearIt) {
  const Space space({{"rate", LogUniform{1e-6, 1e-1, true}, {}},
                     {"other", LogUniform{1e-6, 1e-1, true}, {}}},
                    {}, std::nullopt);
  const History all = UniformTrials(
      space, 100, [](const Point&, Rng& rng) { return rng.Normal(); });
  const Where diverges = [](const Point& p) { return p[0] > 3e-3; };
  EXPECT_GT(ShareOfFirst(space, WithInfeasible(all, diverges)),
            0.15 + ShareOfFirst(space, Without(all, diverges)));
}

TEST(Diverged, AChoiceThatNeverTrainsMatters) {
  const Space space({{"optimizer", Categorical{{"adam", "lamb", "sgd"}}, {}},
                     {"layer.0", Levels{{0.0, 1e-5, 1e-4}}, {}}},
                    {}, std::nullopt);
  const History all = UniformTrials(space, 90, SecondAlone);
  const Where diverges = [](const Point& p) { return p[0] == 2.0; };
  EXPECT_GT(ShareOfFirst(space, WithInfeasible(all, diverges)),
            0.1 + ShareOfFirst(space, Without(all, diverges)));
}

TEST(Diverged, SpreadEvenlyTheyMakeNothingMatter) {
  const Space space = LevelSpace(3, 4);
  const History all = UniformTrials(space, 120, SecondAlone);
  int next = 0;
  const History history =
      WithInfeasible(all, [&next](const Point&) { return next++ % 5 == 0; });
  ASSERT_OK_AND_ASSIGN(const Report report,
                       Evaluate(space, kLoss, history, EvaluateOptions()));
  EXPECT_TRUE(report.diverged_inform);
  EXPECT_LT(report.parameters[0].main.value, 0.1);
  EXPECT_EQ(report.parameters[1].rank, 1);
}

TEST(Diverged, MoreOfThemThanOfTrialsWithAValueAreBorne) {
  const Space space = LevelSpace(3, 4);
  History history = UniformTrials(space, 20, SecondAlone);
  for (int n = 20; n < 520; ++n) {
    Observation diverged;
    diverged.number = n;
    diverged.state = TrialState::kInfeasible;
    diverged.point = {3, 3, 3};
    history.Put(std::move(diverged));
  }
  ASSERT_OK_AND_ASSIGN(const Report report,
                       Evaluate(space, kLoss, history, EvaluateOptions()));
  EXPECT_EQ(report.trials_used, 20);
  EXPECT_EQ(report.trials_left_out, 500);
  EXPECT_GE(report.parameters[1].main.value, 0.1);
}

TEST(Diverged, TheBestTrialsAloneKnowNothingOfThem) {
  const Space space = LevelSpace(3, 4);
  const Where diverges = [](const Point& p) { return p[0] == 3.0; };
  const History history =
      WithInfeasible(UniformTrials(space, 100, SecondAlone), diverges);
  EvaluateOptions options;
  options.top_quantile = 0.5;
  ASSERT_OK_AND_ASSIGN(const Report report,
                       Evaluate(space, kLoss, history, options));
  EXPECT_EQ(report.parameters[1].rank, 1);
  EXPECT_LT(report.parameters[0].main.value, 0.1);
}

}  // namespace
}  // namespace frostline::importance
