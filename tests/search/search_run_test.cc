// SPDX-License-Identifier: Apache-2.0
#include "tests/search/search_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/search/search_sweep.h"

namespace frostline::test {
namespace {

SearchSetup Random(int trials) {
  return {.sampler = {.name = "random", .options = {}}, .trials = trials};
}

TEST(RunSearch, KeepsTheBestSoFar) {
  const auto best = RunSearch(LayerwiseObjectives()[0], Random(60));
  ASSERT_EQ(best.size(), 60u);
  EXPECT_TRUE(std::is_sorted(best.rbegin(), best.rend()));
  EXPECT_LT(best.back(), best.front());
}

TEST(RunSearch, SaysWhatAGreedyLoopWouldSayOfOneWorker) {
  const SearchObjective objective = LayerwiseObjectives()[0];
  const SearchSetup setup = Random(20);
  const auto sampler = *sampler::MakeSampler(setup.sampler, objective.space,
                                             {{"loss", Direction::kMinimize}});
  double best = std::numeric_limits<double>::infinity();
  for (int number = 0; number < 20; ++number) {
    Rng rng(0, static_cast<std::uint64_t>(number));
    const Point point = *sampler->Propose(History(), number, rng);
    best = std::min(best, objective.loss(point));
  }
  EXPECT_EQ(RunSearch(objective, setup).back(), best);
}

TEST(RunSearch, EndsEveryTrialWithManyWorkersToo) {
  SearchSetup setup = Random(50);
  setup.workers = 16;
  const auto best = RunSearch(LayerwiseObjectives()[0], setup);
  EXPECT_EQ(best.size(), 50u);
  EXPECT_EQ(best.back(),
            RunSearch(LayerwiseObjectives()[0], Random(50)).back());
}

TEST(RunSearch, AFailedTrialTellsNothing) {
  SearchSetup setup = Random(10);
  setup.failure_share = 1.0;
  EXPECT_TRUE(std::isinf(RunSearch(LayerwiseObjectives()[0], setup).back()));
}

TEST(RunSearch, NoiseIsSeenByTheSamplerAndNotByTheJudge) {
  SearchSetup setup = Random(40);
  setup.noise_sd = 100.0;
  // The trial that looks best is then some trial, so no loss below the minimum.
  for (const double best : RunSearch(LayerwiseObjectives()[0], setup)) {
    EXPECT_GE(best, -13.0 / 64.0);
  }
}

TEST(RunSweep, HasOneValueForEachSeedWhateverTheThreads) {
  const Sweep sweep = RunSweep(LayerwiseObjectives()[0], Random(0), 3);
  ASSERT_EQ(sweep.at(100).size(), 3u);
  SearchSetup third = Random(200);
  third.seed = 2;
  EXPECT_EQ(sweep.at(100)[2], RunSearch(LayerwiseObjectives()[0], third)[99]);
}

}  // namespace
}  // namespace frostline::test
