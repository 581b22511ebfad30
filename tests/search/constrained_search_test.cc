// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "tests/search/search_run.h"

namespace frostline::test {
namespace {

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

}  // namespace
}  // namespace frostline::test
