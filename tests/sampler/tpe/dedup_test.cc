// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <set>

#include "tests/sampler/tpe/tpe_cases.h"

namespace frostline::sampler {
namespace {

TEST(NativeTpe, CoversASmallSpaceWithoutRepeatingAPoint) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    auto tpe = MakeTpe(SevenLevels(2));
    const History history = Search(*tpe, 60, seed, RunBowl);
    EXPECT_EQ(history.size(), 60u);  // and goes on when all is known
    EXPECT_EQ(CountDistinct(history), 49u);
    std::set<std::uint64_t> first;
    for (std::size_t i = 0; i < 49; ++i) {
      first.insert(HashPoint(history.trials()[i].point));
    }
    EXPECT_EQ(first.size(), 49u);
  }
}

TEST(NativeTpe, TriesAPointAsOftenAsItIsTold) {
  for (const int times : {1, 2, 3}) {
    auto tpe = MakeTpe(SevenLevels(1),
                       {{"dedup", "replicate:" + std::to_string(times)}});
    const History history = Search(*tpe, 7 * times, 1, RunBowl);
    std::vector<int> count(7, 0);
    for (const Observation& trial : history.trials()) {
      ++count[static_cast<std::size_t>(trial.point[0])];
    }
    EXPECT_EQ(count, std::vector<int>(7, times));
  }
  auto off = MakeTpe(SevenLevels(2), {{"dedup", "off"}});
  EXPECT_LT(CountDistinct(Search(*off, 49, 1, RunBowl)), 45u);
}

// A trial is one try, however often its state changed.
TEST(NativeTpe, CountsATryOnce) {
  auto tpe = MakeTpe(SevenLevels(1), {{"dedup", "replicate:2"}});
  History history;
  std::vector<int> count(7, 0);
  for (std::int64_t number = 0; number < 14; ++number) {
    Rng rng(1, static_cast<std::uint64_t>(number));
    ASSERT_OK_AND_ASSIGN(const Point point, tpe->Propose(history, number, rng));
    history.Put(InState(TrialState::kRunning, number, point));
    ASSERT_OK(tpe->Propose(history, number, rng));  // asked while it runs
    history.Put(RunBowl(number, point));
    ++count[static_cast<std::size_t>(point[0])];
  }
  EXPECT_EQ(count, std::vector<int>(7, 2));
}

// Depth 3 is one point, depth 0 is 27: a small branch is neither repeated nor
// shunned, and each of the 40 points is found.
TEST(NativeTpe, CoversEveryBranchOfAConditionalSpace) {
  auto tpe = MakeTpe(DepthAndLayers(3));
  const History history =
      Search(*tpe, 40, 2, [](std::int64_t number, const Point& point) {
        return Succeeded(number, point, point[0]);
      });
  EXPECT_EQ(CountDistinct(history), 40u);
}

TEST(NativeTpe, FindsTheBestOfASmallBranch) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    auto tpe = MakeTpe(DepthAndLayers(6));
    const auto run = [](std::int64_t number, const Point& point) {
      double loss = 2.0 * std::abs(point[0] - 5.0);
      for (std::size_t i = 1; i < point.size(); ++i) {
        if (!IsAbsent(point[i])) loss += 2.0 - point[i];
      }
      return Succeeded(number, point, loss);
    };
    found += BestOf(Search(*tpe, 40, seed, run)) == 0.0;
  }
  EXPECT_GE(found, 9);  // 1 of 1093 points
}

}  // namespace
}  // namespace frostline::sampler
