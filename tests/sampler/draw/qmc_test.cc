// SPDX-License-Identifier: Apache-2.0
#include "sampler/draw/qmc.h"

#include <cmath>
#include <map>

#include "tests/support/objectives.h"
#include "tests/support/status_matchers.h"

namespace frostline::sampler {
namespace {

std::unique_ptr<Sampler> Qmc(const Space& space, std::uint64_t seed = 5,
                             const Options& options = {}) {
  auto made = MakeQmcSampler({.options = options,
                              .space = space,
                              .objectives = kLoss,
                              .prior_studies = {},
                              .study_seed = seed});
  EXPECT_OK(made);
  return *std::move(made);
}

// What is proposed does not depend on the trial's own chance.
Point At(Sampler& sampler, std::int64_t number, const History& history = {}) {
  Rng rng(99);
  auto point = sampler.Propose(history, number, rng);
  EXPECT_OK(point);
  return *std::move(point);
}

Observation SeenSobol(std::int64_t number, const Point& point,
                      TrialState state = TrialState::kRunning) {
  Observation trial;
  trial.number = number;
  trial.point = point;
  trial.state = state;
  return trial;
}

Space LayersOfSobol(int count) {
  std::vector<Parameter> all;
  for (int i = 0; i < count; ++i) {
    all.push_back({"layer." + std::to_string(i),
                   Levels{{0, 2e-10, 2e-9, 2e-8, 2e-7, 2e-6, 2e-5}},
                   {}});
  }
  return Space(all, {}, {});
}

std::map<double, int> Tally(Sampler& sampler, std::size_t parameter,
                            std::int64_t first, int count) {
  std::map<double, int> tally;
  for (int i = 0; i < count; ++i) {
    ++tally[At(sampler, first + i)[parameter]];
  }
  return tally;
}

TEST(Qmc, EveryLevelComesEquallyOftenInEveryBlock) {
  const auto qmc = Qmc(LayersOfSobol(14));
  for (std::size_t d = 0; d < 14; ++d) {
    const auto tally = Tally(*qmc, d, 64, 64);
    ASSERT_EQ(tally.size(), 7u);
    // 64 / 7 is 9.1.
    for (const auto& [level, count] : tally) EXPECT_NEAR(count, 9.1, 1.2);
  }
}

TEST(Qmc, ChoicesStepsAndFrozenHaveTheirShare) {
  const Space space({{"choice", Categorical{{"1", "2", "3", "4"}}, {}},
                     {"step", FloatRange{0.0, 0.7, 0.1, false}, {}},
                     {"rate", LogUniform{1e-8, 1e-4, true}, {}},
                     {"whole", IntRange{1, 16, 1, true}, {}}},
                    {}, {});
  for (const char* scramble : {"true", "false"}) {
    const auto qmc =
        Qmc(space, 5, {{"frozen_share", "0.25"}, {"scramble", scramble}});
    for (const auto& [choice, count] : Tally(*qmc, 0, 0, 64)) {
      EXPECT_EQ(count, 16) << choice;
    }
    for (const auto& [step, count] : Tally(*qmc, 1, 0, 64)) {
      EXPECT_EQ(count, 8) << step;
    }
    EXPECT_EQ(Tally(*qmc, 2, 0, 64)[0.0], 16);
    // ln(1.5 / 0.5) / ln(16.5 / 0.5) of 64 is 20.1.
    EXPECT_NEAR((Tally(*qmc, 3, 0, 64)[1.0]), 20.1, 1.2);
  }
}

TEST(Qmc, RatesThatAreNotFrozenAreEvenInTheLogarithm) {
  const Space space({{"rate", LogUniform{1e-8, 1e-4, true}, {}}}, {}, {});
  const auto qmc = Qmc(space, 5, {{"frozen_share", "0.5"}});
  std::map<int, int> decades;
  for (int n = 0; n < 64; ++n) {
    const double rate = At(*qmc, n)[0];
    if (rate > 0.0) ++decades[static_cast<int>(std::floor(std::log10(rate)))];
  }
  for (int decade = -8; decade < -4; ++decade) EXPECT_EQ(decades[decade], 8);
}

TEST(Qmc, TheSeedOfTheStudyDecidesAndNothingElse) {
  const Space space = LayersOfSobol(14);
  const auto one = Qmc(space, 1), same = Qmc(space, 1), other = Qmc(space, 2);
  EXPECT_TRUE(SamePoint(At(*one, 12), At(*same, 12)));
  EXPECT_FALSE(SamePoint(At(*one, 12), At(*other, 12)));
}

TEST(Qmc, WithoutScramblingItStartsInTheLowestCorner) {
  const auto qmc = Qmc(LayersOfSobol(3), 1, {{"scramble", "false"}});
  EXPECT_THAT(At(*qmc, 0), testing::Each(0.0));
  EXPECT_THAT(At(*qmc, 1), testing::Each(3.0));
}

TEST(Qmc, AnInactiveParameterKeepsItsDimension) {
  Condition when;
  when.parent = 0;
  when.values = {1.0};
  const Levels levels{{0, 1, 2}};
  const Space always({{"a", levels, {}}, {"b", levels, {}}, {"c", levels, {}}},
                     {}, {});
  const Space sometimes(
      {{"a", levels, {}}, {"b", levels, when}, {"c", levels, {}}}, {}, {});
  const auto full = Qmc(always), part = Qmc(sometimes);
  for (int n = 0; n < 32; ++n) {
    const Point expected = At(*full, n), point = At(*part, n);
    EXPECT_EQ(point[2], expected[2]);
    EXPECT_EQ(IsAbsent(point[1]), point[0] != 1.0);
  }
}

TEST(Qmc, EnqueuedTrialsLeaveNoHole) {
  const auto fresh = Qmc(LayersOfSobol(6)), qmc = Qmc(LayersOfSobol(6));
  History history;
  history.Put(SeenSobol(0, Point(6, 6.0)));
  history.Put(SeenSobol(1, Point(6, 0.0)));
  std::int64_t due = 0;
  for (std::int64_t number = 2; number < 40; ++number) {
    if (number == 20) {
      history.Put(SeenSobol(number, Point(6, 3.0)));
      continue;
    }
    const Point point = At(*qmc, number, history);
    EXPECT_TRUE(SamePoint(point, At(*fresh, due++))) << number;
    history.Put(SeenSobol(number, point));
  }
}

TEST(Qmc, TrialsThatFailOrRunAgainKeepTheirPlace) {
  const auto fresh = Qmc(LayersOfSobol(6)), qmc = Qmc(LayersOfSobol(6));
  History history;
  for (std::int64_t number = 0; number < 8; ++number) {
    history.Put(SeenSobol(number, At(*qmc, number, history)));
  }
  EXPECT_TRUE(SamePoint(At(*qmc, 3, history), At(*fresh, 3)));
  history.Put(SeenSobol(3, At(*fresh, 3), TrialState::kFailed));
  EXPECT_TRUE(SamePoint(At(*qmc, 8, history), At(*fresh, 8)));
}

TEST(Qmc, APointThatIsLearntLaterMovesThoseAfterIt) {
  const auto fresh = Qmc(LayersOfSobol(6)), qmc = Qmc(LayersOfSobol(6));
  History history;
  history.Put(SeenSobol(4, At(*fresh, 4)));
  EXPECT_TRUE(SamePoint(At(*qmc, 5, history), At(*fresh, 5)));
  history.Put(SeenSobol(2, Point(6, 1.0)));
  // Trial 4 was due point 3 and has another, so it does not count in the
  // sequence.
  EXPECT_TRUE(SamePoint(At(*qmc, 5, history), At(*fresh, 3)));
}

TEST(Qmc, TakesTheLargestSpace) {
  const auto qmc = Qmc(LayersOfSobol(kMaxParameters));
  EXPECT_OK(LayersOfSobol(kMaxParameters).Check(At(*qmc, 123'456)));
}

}  // namespace
}  // namespace frostline::sampler
