// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <set>

#include "sampler/cost.h"
#include "sampler/tpe/tpe.h"
#include "tests/sampler/tpe/tpe_cases.h"

namespace frostline::sampler {
namespace {

// Which distance good trials with these levels speak for.
double LearntSteps(const std::vector<Cell>& levels, double width) {
  const std::vector<CellAxis> axes = {
      {Levels{{0, 2e-10, 2e-9, 2e-8, 2e-7, 2e-6, 2e-5}}, true, 0.2}};
  KernelCache kernels(axes);
  std::vector<WeightedCells> good;
  for (const Cell& level : levels) good.push_back({{&level, 1}, 1.0, false});
  return LearnFrozenSteps(axes, kernels, good, {width});
}

TEST(NativeTpe, LearnsHowFarFrozenIsFromTheLowestRate) {
  EXPECT_LE(LearntSteps({0, 1, 2, 3}, 0.1), 0.5);  // one of a row
  EXPECT_LE(LearntSteps({1, 1, 2, 1, 0, 1, 2, 1}, 0.1), 1.0);
  EXPECT_GE(LearntSteps({0, 0, 4, 5, 4, 5}, 0.25), 4.0);  // apart
  EXPECT_EQ(LearntSteps({4, 4, 5, 5}, 0.1), 2.0);         // nothing was near
}

// The best half of the first module fails. A search that forgets failures
// comes back to it for ever, for all it sees of it is that it knows nothing.
TEST(NativeTpe, AvoidsWhereTrialsFail) {
  const auto count_failed = [](const char* failures) {
    int failed = 0;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      auto tpe = MakeTpe(SevenLevels(5), {{"failures", failures}});
      const auto run = [&failed](std::int64_t number, const Point& point) {
        if (point[0] < 3.0) return RunBowl(number, point);
        failed += number >= 20;
        return InState(TrialState::kFailed, number, point);
      };
      Search(*tpe, 100, seed, run);
    }
    return failed;
  };
  const int avoiding = count_failed("avoid");
  EXPECT_LT(avoiding, 5 * 80 / 5);
  EXPECT_LT(2 * avoiding, count_failed("ignore"));
}

// Nothing ever works: proposals still move on, away from what failed.
TEST(NativeTpe, TriesOtherPointsWhenAllFail) {
  auto tpe = MakeTpe(SevenLevels(2));
  const History history =
      Search(*tpe, 49, 3, [](std::int64_t number, const Point& point) {
        return InState(TrialState::kInfeasible, number, point);
      });
  EXPECT_EQ(CountDistinct(history), 49u);
}

// Only the last module matters; the others cost time alone.
Observation RunForTime(const WorkCounter& counter, std::int64_t number,
                       const Point& point) {
  Observation trial = Succeeded(number, point, std::abs(point[7] - 4.0));
  trial.cost_s = 5.0 + 4.0 * counter.CountOf(point).passes();
  return trial;
}

TEST(NativeTpe, PrefersTheCheaperOfTwoThatAreAsGood) {
  const Space space = SevenLevels(8);
  const WorkCounter counter(space);
  const auto seconds = [&](const char* cost_aware) {
    auto tpe = MakeTpe(space, {{"cost_aware", cost_aware}});
    double sum = 0.0;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const History history =
          Search(*tpe, 100, seed, [&](std::int64_t number, const Point& point) {
            return RunForTime(counter, number, point);
          });
      EXPECT_EQ(BestOf(history), 0.0);
      for (const Observation& trial : history.trials()) sum += trial.cost_s;
    }
    return sum;
  };
  EXPECT_LT(seconds("true"), 0.93 * seconds("false"));
}

// Until seconds are known, and where they hang on something else, a search is
// as without the option, to the bit.
TEST(NativeTpe, WhileCostsAreNotKnownNothingChanges) {
  const Space space = SevenLevels(4);
  auto aware = MakeTpe(space, {{"cost_aware", "true"}});
  auto plain = MakeTpe(space);
  Rng chance(3);
  const auto run = [&chance](std::int64_t number, const Point& point) {
    Observation trial = RunBowl(number, point);
    trial.cost_s = std::exp(8.0 * chance.Uniform());
    return trial;
  };
  const History history = Search(*plain, 60, 5, run);
  for (std::int64_t number = 60; number < 80; ++number) {
    Rng one(3, static_cast<std::uint64_t>(number));
    Rng two(3, static_cast<std::uint64_t>(number));
    EXPECT_TRUE(SamePoint(*aware->Propose(history, number, one),
                          *plain->Propose(history, number, two)));
  }
}

// 64 at once, in a space where chance alone would not repeat a point.
TEST(NativeTpe, KeepsABatchApart) {
  auto tpe = MakeTpe(SevenLevels(5));
  History history = Search(*tpe, 40, 6, RunBowl);
  for (std::int64_t number = 40; number < 104; ++number) {
    Rng rng(6, static_cast<std::uint64_t>(number));
    ASSERT_OK_AND_ASSIGN(const Point point, tpe->Propose(history, number, rng));
    history.Put(InState(TrialState::kRunning, number, point));
  }
  EXPECT_EQ(CountDistinct(history), 104u);
}

// What was enqueued and waits is not proposed once more.
TEST(NativeTpe, LeavesEnqueuedPointsToTheQueue) {
  auto tpe = MakeTpe(SevenLevels(1), {{"startup_trials", "1"}});
  History history;
  history.Put(Succeeded(0, {4.0}, 0.0));
  for (std::int64_t i = 1; i < 6; ++i) {
    history.Put(InState(TrialState::kQueued, i, {static_cast<double>(i % 4)}));
  }
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed);
    ASSERT_OK_AND_ASSIGN(const Point point, tpe->Propose(history, 9, rng));
    EXPECT_GT(point[0], 4.0);
  }
}

// The work of a proposal stops growing: as many kernels at 6,000 trials as
// at 3,000, and the same proposal as a sampler that sees all of it first now.
TEST(NativeTpe, DoesNotWorkMoreForALongHistory) {
  auto tpe = MakeTpe(SevenLevels(6));
  History history;
  Rng rng(8);
  std::vector<std::size_t> kernels;
  for (std::int64_t number = 0; number < 6'000; ++number) {
    Point point(6);
    for (double& level : point) level = static_cast<double>(rng.Below(7));
    history.Put(InState(TrialState::kRunning, number, point));
    history.Put(RunBowl(number, point));
    if (number % 3'000 != 2'999) continue;
    auto fresh = MakeTpe(SevenLevels(6));
    Rng one(2), two(2);
    EXPECT_TRUE(SamePoint(*tpe->Propose(history, number + 1, one),
                          *fresh->Propose(history, number + 1, two)));
    kernels.push_back(tpe->kernels_used());
  }
  EXPECT_EQ(tpe->table().rebuilds(), 0u);
  EXPECT_LE(kernels[1], 256u + 25u);
  EXPECT_LE(kernels[1], kernels[0] + 8);
}

TEST(NativeTpe, RefusesADedupThatIsNone) {
  for (const char* dedup : {"", "replicate", "replicate:0", "replicate:2x"}) {
    EXPECT_THAT(ReadTpeOptions({{{"dedup", dedup}}, SevenLevels(1), kLoss, {}}),
                FailsAt(ErrorId::kSamplerInvalid, "sampler.options.dedup"));
  }
}

}  // namespace
}  // namespace frostline::sampler
