// SPDX-License-Identifier: Apache-2.0
#include "tests/search/search_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>

#include "tests/search/truths.h"
#include "tests/support/temp_folder.h"

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

constexpr int kSeeds = 7;

// Returns the best of all 823,543 points that keep the constraint.
double BestThatKeepsIt(const SearchObjective& objective) {
  double best = std::numeric_limits<double>::infinity();
  Point point(7, 0.0);
  for (;;) {
    if (objective.constraint(point) <= 0.0) {
      best = std::min(best, objective.loss(point));
    }
    std::size_t axis = 0;
    while (axis < point.size() && point[axis] == 6.0) point[axis++] = 0.0;
    if (axis == point.size()) return best;
    ++point[axis];
  }
}

double MedianBest(const SearchObjective& objective, const std::string& sampler,
                  int trials, bool tells_constraint) {
  std::vector<double> best;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    best.push_back(
        RunSearch(objective, {.sampler = {.name = sampler, .options = {}},
                              .trials = trials,
                              .seed = seed,
                              .tells_constraint = tells_constraint})
            .back());
  }
  std::nth_element(best.begin(), best.begin() + kSeeds / 2, best.end());
  return best[kSeeds / 2];
}

TEST(ConstrainedSearch, LevelsGpFindsTheBestThatKeepsTheConstraint) {
  const SearchObjective objective = SecondsAreBounded();
  const double optimum = BestThatKeepsIt(objective);
  const double told = MedianBest(objective, "levels-gp", 70, true);
  const double ignoring = MedianBest(objective, "levels-gp", 70, false);
  RecordProperty("optimum", std::to_string(optimum));
  RecordProperty("told", std::to_string(told));
  RecordProperty("ignoring", std::to_string(ignoring));
  EXPECT_EQ(told, optimum);
  EXPECT_GT(ignoring, optimum + 0.5);
}

TEST(ConstrainedSearch, TpeDoesTooAndBeatsIgnoringIt) {
  const SearchObjective objective = SecondsAreBounded();
  const double optimum = BestThatKeepsIt(objective);
  const double told = MedianBest(objective, "tpe", 150, true);
  const double ignoring = MedianBest(objective, "tpe", 150, false);
  RecordProperty("told", std::to_string(told));
  RecordProperty("ignoring", std::to_string(ignoring));
  EXPECT_LE(told, optimum + 0.5);
  EXPECT_GT(ignoring, told + 0.5);
}

// scipy.stats.mannwhitneyu(a, b, alternative="greater", method="asymptotic").
TEST(ProbabilityNotGreater, EqualsWhatScipySays) {
  const std::vector<double> a = {1.5, 2, 2, 3, 5, 8};
  const std::vector<double> b = {1, 1, 2, 2.5, 3};
  EXPECT_NEAR(ProbabilityNotGreater(a, b), 0.13334968445052153, 1e-12);
  EXPECT_NEAR(ProbabilityNotGreater(b, a), 0.902479801225649, 1e-12);
}

TEST(ProbabilityNotGreater, SaysNothingOfEqualValues) {
  EXPECT_EQ(ProbabilityNotGreater({2, 2, 2}, {2, 2}), 1.0);
}

std::string Write(const TempFolder& folder, const std::string& text) {
  const std::string path = (folder.path() / "truths.json").string();
  std::ofstream(path) << text;
  return path;
}

TEST(Truths, ATargetIsTheSumOfItsTables) {
  const TempFolder folder;
  const auto truths = ReadTruths(Write(folder, R"({"cases": {"two": {
      "modules": 3, "levels": 2, "terms": [
        {"axes": [1], "share": 0.4, "table": [-2, 2]},
        {"axes": [0, 2], "share": 0.6, "table": [[1, -1], [-3, 3]]}]}}})"));
  ASSERT_EQ(truths.size(), 1u);
  EXPECT_EQ(truths[0].name, "two");
  EXPECT_EQ(truths[0].Target({0, 0, 0}), -2 + 1);
  EXPECT_EQ(truths[0].Target({1, 1, 0}), 2 - 3);
  EXPECT_EQ(truths[0].MakeSpace().CountPoints(), 8);
}

TEST(Truths, ATableThatDoesNotFitIsRefusedByName) {
  const TempFolder folder;
  const std::string path = Write(folder, R"({"cases": {"odd": {
      "modules": 2, "levels": 3, "terms": [
        {"axes": [0], "share": 1, "table": [1, 2]}]}}})");
  EXPECT_THAT([&] { ReadTruths(path); },
              testing::ThrowsMessage<std::runtime_error>(testing::AllOf(
                  testing::HasSubstr(path), testing::HasSubstr("case odd"))));
}

TEST(Layerwise, HaveTheirMinimaWhereTheyShould) {
  const auto objectives = LayerwiseObjectives();
  EXPECT_EQ(objectives[0].loss({4, 2, 5, 3, 6, 1, 4}), -13.0 / 64.0);
  EXPECT_EQ(objectives[2].loss({5, 4, 5, 3, 5, 4, 5, 4, 3, 5, 4, 5, 2}), 0.0);
}

TEST(Layerwise, FrozenActsAsAnotherLevelWhereItIsDifferent) {
  const auto plain = LayerwiseObjectives()[0];
  const auto frozen = FrozenIsDifferent()[0];
  EXPECT_EQ(frozen.loss({0, 1, 1, 1, 1, 1, 1}),
            plain.loss({4, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(frozen.loss({1, 0, 1, 1, 1, 1, 1}),
            plain.loss({1, 0, 1, 1, 1, 1, 1}));
  EXPECT_EQ(frozen.loss({1, 1, 0, 1, 1, 1, 1}),
            plain.loss({1, 1, 3, 1, 1, 1, 1}));
}

}  // namespace
}  // namespace frostline::test
