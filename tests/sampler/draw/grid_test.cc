// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "gtest/gtest.h"
#include "sampler/draw/finite.h"
#include "sampler/draw/random.h"
#include "sampler/factory.h"
#include "tests/sampler/odd_spaces.h"
#include "tests/support/objectives.h"
#include "tests/support/status_matchers.h"

namespace frostline::sampler {
namespace {

// Two levels; under the second one three more. Four points, not six.
Space BranchingGrid() {
  Condition when;
  when.parent = 0;
  when.values = {1.0};
  return Space(
      {{"a", Levels{{0, 1e-5}}, {}}, {"b", IntRange{1, 3, 1, false}, when}}, {},
      std::nullopt);
}

Space Product(int parameters) {
  std::vector<Parameter> all;
  for (int i = 0; i < parameters; ++i) {
    all.push_back({"p" + std::to_string(i), IntRange{0, 9, 1, false}, {}});
  }
  return Space(all, {}, std::nullopt);
}

Observation SeenGrid(std::int64_t number, const Point& point,
                     TrialState state) {
  Observation trial;
  trial.number = number;
  trial.point = point;
  trial.state = state;
  return trial;
}

// Proposes until the space is exhausted; the distinct points, in order.
std::vector<Point> CoverGrid(Sampler& sampler, History history,
                             std::int64_t first) {
  std::vector<Point> points;
  for (std::int64_t number = first;; ++number) {
    Rng rng(7, static_cast<std::uint64_t>(number));
    const auto point = sampler.Propose(history, number, rng);
    if (!point.ok()) {
      EXPECT_THAT(point, FailsWith(ErrorId::kSpaceExhausted));
      return points;
    }
    for (const Point& before : points) {
      EXPECT_FALSE(SamePoint(before, *point));
    }
    points.push_back(*point);
    history.Put(
        SeenGrid(number, *point,
                 number % 2 == 0 ? TrialState::kRunning : TrialState::kFailed));
  }
}

TEST(Grid, EveryCanonicalPointIsProposedOnce) {
  for (const char* order : {"listed", "shuffled"}) {
    const Space space = BranchingGrid();
    ASSERT_OK_AND_ASSIGN(
        auto grid, MakeGridSampler({{{"order", order}}, space, kLoss, {}}));
    const auto points = CoverGrid(*grid, History(), 0);
    EXPECT_EQ(points.size(), 4u) << order;
    for (const Point& point : points) EXPECT_OK(space.Check(point));
  }
}

TEST(Grid, ListedIsLexicographic) {
  ASSERT_OK_AND_ASSIGN(
      auto grid,
      MakeGridSampler({{{"order", "listed"}}, BranchingGrid(), kLoss, {}}));
  const auto points = CoverGrid(*grid, History(), 0);
  ASSERT_EQ(points.size(), 4u);
  EXPECT_TRUE(SamePoint(points[0], {0.0, kAbsent}));
  EXPECT_TRUE(SamePoint(points[1], {1.0, 1.0}));
  EXPECT_TRUE(SamePoint(points[3], {1.0, 3.0}));
}

TEST(Grid, PointsInTheHistoryAreNotProposedAgainInWhateverState) {
  History history;
  history.Put(SeenGrid(5, {1.0, 2.0}, TrialState::kCancelled));
  history.Put(SeenGrid(2, {0.0, kAbsent}, TrialState::kQueued));
  history.Put(
      SeenGrid(3, {1.0, 9.0}, TrialState::kSucceeded));  // not of the grid
  ASSERT_OK_AND_ASSIGN(auto grid,
                       MakeGridSampler({{}, BranchingGrid(), kLoss, {}}));
  EXPECT_EQ(CoverGrid(*grid, history, 6).size(), 2u);
}

TEST(Grid, APointThatIsTakenBackIsProposedAfterAll) {
  History history;
  ASSERT_OK_AND_ASSIGN(
      auto grid,
      MakeGridSampler({{{"order", "listed"}}, BranchingGrid(), kLoss, {}}));
  history.Put(SeenGrid(0, {0.0, kAbsent}, TrialState::kRunning));
  Rng rng(1);
  ASSERT_OK(grid->Propose(history, 1, rng));
  history.Put(SeenGrid(0, {1.0, 1.0}, TrialState::kRunning));
  ASSERT_OK_AND_ASSIGN(const Point point, grid->Propose(history, 1, rng));
  EXPECT_TRUE(SamePoint(point, {0.0, kAbsent}));
}

TEST(Grid, SteppedValuesAreRecognisedInSpiteOfRounding) {
  const Space space({{"x", FloatRange{0.0, 0.3, 0.1, false}, {}}}, {}, {});
  History history;
  history.Put(SeenGrid(0, {0.3}, TrialState::kSucceeded));
  history.Put(SeenGrid(1, {0.1 + 0.1}, TrialState::kSucceeded));
  history.Put(SeenGrid(2, {std::nextafter(0.1, 1.0)}, TrialState::kSucceeded));
  ASSERT_OK_AND_ASSIGN(auto grid, MakeGridSampler({{}, space, kLoss, {}}));
  const auto points = CoverGrid(*grid, history, 3);
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(points[0][0], 0.0);
}

TEST(Grid, TooManyPointsAreRefusedAtOnceAndContinuousOnesByName) {
  EXPECT_OK(MakeGridSampler({{}, Product(6), kLoss, {}}));
  EXPECT_THAT(MakeGridSampler({{}, Product(7), kLoss, {}}),
              FailsWith(ErrorId::kSpaceTooLarge));
  EXPECT_THAT(MakeGridSampler({{}, Product(300), kLoss, {}}),
              FailsWith(ErrorId::kSpaceTooLarge));
  const Space continuous({{"lr", LogUniform{1e-6, 1e-3, false}, {}}}, {}, {});
  const auto made = MakeGridSampler({{}, continuous, kLoss, {}});
  EXPECT_THAT(made, FailsWith(ErrorId::kSamplerInvalid));
  EXPECT_THAT(std::string(made.status().message()), testing::HasSubstr("lr"));
}

TEST(Grid, ASpaceWithoutParametersIsRefused) {
  EXPECT_THAT(MakeSampler({.name = "grid", .options = {}}, Space(),
                          {{"accuracy", Direction::kMaximize}}),
              FailsAt(ErrorId::kSamplerInvalid, "sampler.name"));
}

TEST(Grid, CoversOddSpacesWhateverTheHistory) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Rng rng(seed);
    const Space space = OddSpace(rng, true);
    History history = OddHistory(space, 1, 20, rng);
    ASSERT_OK_AND_ASSIGN(auto grid, MakeGridSampler({{}, space, kLoss, {}}));
    ASSERT_OK_AND_ASSIGN(auto fresh, MakeGridSampler({{}, space, kLoss, {}}));
    const std::size_t all = CoverGrid(*fresh, History(), 0).size();
    const std::size_t rest = CoverGrid(*grid, history, 20).size();
    EXPECT_LE(rest, all) << seed;
    EXPECT_GE(rest + history.size(), all) << seed;
  }
}

absl::StatusOr<std::unique_ptr<Sampler>> Brute(const Space& space) {
  return MakeSampler({.name = "brute", .options = {}}, space, kLoss);
}

Condition When(int parent, double value) {
  Condition when;
  when.parent = parent;
  when.values = {value};
  return when;
}

// Two levels; under the second one three more. Four points, not six.
Space Branching() {
  return Space({{"a", Levels{{0, 1e-5}}, {}},
                {"b", IntRange{1, 3, 1, false}, When(0, 1.0)}},
               {}, {});
}

Space LayersOfForce(int count) {
  std::vector<Parameter> all;
  for (int i = 0; i < count; ++i) {
    all.push_back({"layer." + std::to_string(i),
                   Levels{{0, 2e-10, 2e-9, 2e-8, 2e-7, 2e-6, 2e-5}},
                   {}});
  }
  return Space(all, {}, {});
}

Observation SeenForce(std::int64_t number, const Point& point,
                      TrialState state) {
  Observation trial;
  trial.number = number;
  trial.point = point;
  trial.state = state;
  return trial;
}

Point DrawAll(Sampler& sampler, std::int64_t number,
              const History& history = {}, std::uint64_t seed = 7) {
  Rng rng(seed, static_cast<std::uint64_t>(number));
  auto point = sampler.Propose(history, number, rng);
  EXPECT_OK(point);
  return point.ok() ? *std::move(point) : Point();
}

// Proposes until the space is exhausted; the points, all of them distinct.
std::set<std::vector<double>> Cover(Sampler& sampler, History history,
                                    std::int64_t first) {
  constexpr TrialState kStates[] = {TrialState::kRunning, TrialState::kFailed,
                                    TrialState::kSucceeded, TrialState::kPruned,
                                    TrialState::kInfeasible};
  std::set<std::vector<double>> points;
  for (std::int64_t number = first;; ++number) {
    Rng rng(7, static_cast<std::uint64_t>(number));
    const auto point = sampler.Propose(history, number, rng);
    if (!point.ok()) {
      EXPECT_THAT(point, FailsWith(ErrorId::kSpaceExhausted));
      return points;
    }
    std::vector<double> key = *point;
    for (double& value : key) value = IsAbsent(value) ? -9e9 : value;
    EXPECT_TRUE(points.insert(key).second);
    history.Put(SeenForce(number, *point, kStates[number % 5]));
  }
}

TEST(BruteForce, EveryPointOfAConditionalSpaceComesOnce) {
  ASSERT_OK_AND_ASSIGN(auto brute, Brute(Branching()));
  EXPECT_EQ(Cover(*brute, History(), 0).size(), 4u);
}

TEST(BruteForce, EveryPointIsEquallyLikelyToBeTheFirst) {
  ASSERT_OK_AND_ASSIGN(auto brute, Brute(Branching()));
  std::map<double, int> tally;
  constexpr int kDraws = 4000;
  for (int i = 0; i < kDraws; ++i) {
    const Point point = DrawAll(*brute, 0, {}, static_cast<std::uint64_t>(i));
    ++tally[point[0] == 0.0 ? 0.0 : point[1]];
  }
  for (const auto& [point, count] : tally) {
    EXPECT_NEAR(count, kDraws / 4, 120) << point;
  }
}

TEST(BruteForce, WhatIsInTheHistoryIsNotProposedAgainInWhateverState) {
  History history;
  history.Put(SeenForce(5, {1.0, 2.0}, TrialState::kCancelled));
  history.Put(SeenForce(2, {0.0, kAbsent}, TrialState::kQueued));
  history.Put(
      SeenForce(3, {1.0, 9.0}, TrialState::kSucceeded));  // not of the space
  history.Put(SeenForce(4, {1.0, 2.0}, TrialState::kFailed));  // again
  ASSERT_OK_AND_ASSIGN(auto brute, Brute(Branching()));
  EXPECT_EQ(Cover(*brute, history, 6).size(), 2u);
}

TEST(BruteForce, ARestartInTheMiddleGoesOn) {
  ASSERT_OK_AND_ASSIGN(auto before, Brute(LayersOfForce(2)));
  History history;
  for (std::int64_t number = 0; number < 20; ++number) {
    history.Put(SeenForce(number, DrawAll(*before, number, history),
                          TrialState::kRunning));
  }
  ASSERT_OK_AND_ASSIGN(auto after, Brute(LayersOfForce(2)));
  EXPECT_EQ(Cover(*after, history, 20).size(), 29u);
}

TEST(BruteForce, ATrialDoesNotStandInItsOwnWay) {
  const Space one({{"a", Levels{{1e-5}}, {}}}, {}, {});
  ASSERT_OK_AND_ASSIGN(auto brute, Brute(one));
  History history;
  history.Put(SeenForce(0, {0.0}, TrialState::kRunning));
  EXPECT_EQ(DrawAll(*brute, 0, history), Point{0.0});
  Rng rng(1);
  EXPECT_THAT(brute->Propose(history, 1, rng),
              FailsWith(ErrorId::kSpaceExhausted));
}

TEST(BruteForce, APointThatIsTakenBackIsProposedAfterAll) {
  ASSERT_OK_AND_ASSIGN(auto brute, Brute(Branching()));
  History history;
  history.Put(SeenForce(0, {0.0, kAbsent}, TrialState::kRunning));
  EXPECT_EQ(Cover(*brute, history, 1).size(), 3u);
  history.Put(SeenForce(0, {1.0, 1.0}, TrialState::kRunning));
  EXPECT_TRUE(Cover(*brute, history, 1).contains({0.0, -9e9}));
}

TEST(BruteForce, APointThatTwoTrialsHaveIsTakenUntilBothGiveItUp) {
  ASSERT_OK_AND_ASSIGN(auto brute, Brute(Branching()));
  History history;
  for (const std::int64_t number : {0, 1}) {
    history.Put(SeenForce(number, {0.0, kAbsent}, TrialState::kRunning));
  }
  EXPECT_EQ(Cover(*brute, history, 2).size(), 3u);
  history.Put(SeenForce(0, {1.0, 1.0}, TrialState::kRunning));
  EXPECT_EQ(Cover(*brute, history, 2).size(), 2u);
}

TEST(FiniteTree, CountsWhatHangsOnWhatByMultiplying) {
  const Levels three{{0, 1, 2}};
  // b and c under a = 1, d under b = 2, e by itself.
  const Space space({{"a", Levels{{0, 1}}, {}},
                     {"b", three, When(0, 1.0)},
                     {"c", three, When(0, 1.0)},
                     {"d", three, When(1, 2.0)},
                     {"e", three, {}}},
                    {}, {});
  const FiniteTree tree(space);
  EXPECT_EQ(tree.CountPoints(), (1 + (1 + 1 + 3) * 3) * 3);
  EXPECT_EQ(tree.CountOwn(0, 1), 15.0);
  EXPECT_EQ(tree.CountPending(1, {1, kAbsent, kAbsent, kAbsent, kAbsent}), 9.0);
}

TEST(BruteForce, WorksWhereTheSpaceIsFarTooLargeToList) {
  ASSERT_OK_AND_ASSIGN(auto brute, Brute(LayersOfForce(26)));
  History history;
  for (std::int64_t number = 0; number < 500; ++number) {
    const Point point = DrawAll(*brute, number, history);
    for (const Observation& trial : history.trials()) {
      ASSERT_FALSE(SamePoint(point, trial.point));
    }
    history.Put(SeenForce(number, point, TrialState::kSucceeded));
  }
  ASSERT_OK_AND_ASSIGN(auto largest, Brute(LayersOfForce(kMaxParameters)));
  EXPECT_OK(LayersOfForce(kMaxParameters).Check(DrawAll(*largest, 0)));
}

TEST(BruteForce, FindsTheLastPoints) {
  // 1,000 points of which all but three are taken.
  const Space space({{"a", IntRange{0, 9, 1, false}, {}},
                     {"b", IntRange{10, 1000, 10, true}, {}}},
                    {}, {});
  const GridPoints points(space);
  History history;
  Point point = points.First();
  for (std::int64_t number = 0; number < 1000; ++number) {
    if (number % 400 != 3) {
      history.Put(SeenForce(number, point, TrialState::kSucceeded));
    }
    points.Advance(point);
  }
  ASSERT_OK_AND_ASSIGN(auto brute, Brute(space));
  EXPECT_EQ(Cover(*brute, history, 1000).size(), 3u);
}

TEST(BruteForce, SteppedValuesAreRecognisedInSpiteOfRounding) {
  const Space space({{"x", FloatRange{0.0, 0.3, 0.1, false}, {}}}, {}, {});
  History history;
  history.Put(SeenForce(0, {0.3}, TrialState::kSucceeded));
  history.Put(SeenForce(1, {0.1 + 0.1}, TrialState::kSucceeded));
  history.Put(SeenForce(2, {std::nextafter(0.1, 1.0)}, TrialState::kSucceeded));
  ASSERT_OK_AND_ASSIGN(auto brute, Brute(space));
  EXPECT_EQ(Cover(*brute, history, 3), (std::set<std::vector<double>>{{0.0}}));
}

TEST(BruteForce, RefusesWhatItCannotCount) {
  const Space continuous({{"lr", LogUniform{1e-6, 1e-3, true}, {}}}, {}, {});
  const auto refused = Brute(continuous);
  EXPECT_THAT(refused, FailsAt(ErrorId::kSamplerInvalid, "sampler.name"));
  EXPECT_THAT(std::string(refused.status().message()),
              testing::HasSubstr("lr"));
  const Space wide({{"n", IntRange{0, 1'000'000, 1, false}, {}}}, {}, {});
  EXPECT_THAT(Brute(wide), FailsWith(ErrorId::kSpaceTooLarge));
  EXPECT_THAT(Brute(Space()), FailsWith(ErrorId::kSamplerInvalid));
}

TEST(BruteForce, CoversOddSpacesAsOftenAsTheyHavePoints) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Rng rng(seed);
    const Space space = OddSpace(rng, true);
    const History history = OddHistory(space, 1, 20, rng);
    ASSERT_OK_AND_ASSIGN(auto brute, Brute(space));
    const auto all =
        static_cast<std::size_t>(GridPoints(space).Count(1'000'000));
    EXPECT_EQ(FiniteTree(space).CountPoints(), static_cast<double>(all));
    EXPECT_EQ(Cover(*brute, History(), 0).size(), all) << seed;
    const std::size_t rest = Cover(*brute, history, 20).size();
    EXPECT_LE(rest, all) << seed;
    EXPECT_GE(rest + history.size(), all) << seed;
  }
}

constexpr int kRandomDraws = 20'000;

std::vector<double> Draw(const Domain& domain) {
  Rng rng(1);
  std::vector<double> values;
  for (int i = 0; i < kRandomDraws; ++i) {
    values.push_back(DrawValue(domain, kFrozenShare, rng));
  }
  return values;
}

// Five standard deviations of a binomial count.
void ExpectShare(const std::vector<double>& values, double share, auto holds) {
  const auto count =
      static_cast<double>(std::count_if(values.begin(), values.end(), holds));
  EXPECT_NEAR(count, share * kRandomDraws,
              5.0 * std::sqrt(kRandomDraws * share * (1.0 - share)));
}

TEST(DrawValue, EveryLevelChoiceAndStepIsEquallyLikely) {
  for (const Domain& domain :
       {Domain(Levels{{0, 1e-6, 1e-5}}), Domain(IntRange{-4, 5, 4, false}),
        Domain(FloatRange{0.0, 0.3, 0.15, false}),
        Domain(Categorical{{"1", "2", "3"}})}) {
    const std::vector<double> values = Draw(domain);
    for (const double value : ListValues(domain)) {
      ExpectShare(values, 1.0 / 3.0, [&](double v) { return v == value; });
    }
  }
}

TEST(DrawValue, RatesAreUniformInTheLogarithmAndFrozenInAShare) {
  const std::vector<double> values = Draw(LogUniform{1e-6, 1e-2, true});
  ExpectShare(values, 0.2, [](double v) { return v == 0.0; });
  ExpectShare(values, 0.4, [](double v) { return v > 1e-4; });
  ExpectShare(values, 0.2, [](double v) { return v > 0.0 && v < 1e-5; });
}

TEST(DrawValue, LogarithmicIntegersAreAsWideAsTheirCells) {
  const std::vector<double> values = Draw(IntRange{1, 100, 1, true});
  const double whole = std::log(100.5 / 0.5);
  ExpectShare(values, std::log(3.0) / whole, [](double v) { return v == 1.0; });
  ExpectShare(values, std::log(100.5 / 9.5) / whole,
              [](double v) { return v >= 10.0; });
}

TEST(DrawPoint, AParameterIsAbsentWhereItsConditionIsNotMet) {
  Condition when;
  when.parent = 0;
  when.values = {1.0};
  const Space space({{"optimizer", Categorical{{"\"adam\"", "\"sgd\""}}, {}},
                     {"momentum", FloatRange{0.5, 0.9, 0.0, false}, when}},
                    {}, std::nullopt);
  Rng rng(3);
  for (int i = 0; i < 100; ++i) {
    const Point point = DrawPoint(space, kFrozenShare, rng);
    EXPECT_EQ(IsAbsent(point[1]), point[0] == 0.0);
  }
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(LogNormalCdf, AgreesWithKnownValuesFarIntoBothTails) {
  EXPECT_DOUBLE_EQ(LogNormalCdf(0.0), std::log(0.5));
  EXPECT_DOUBLE_EQ(LogNormalCdf(-1.0), -1.8410216450092636);
  EXPECT_DOUBLE_EQ(LogNormalCdf(-40.0), -804.6084420137539);
  EXPECT_DOUBLE_EQ(LogNormalCdf(-1000.0), -500007.8266948122);
  EXPECT_NEAR(LogNormalCdf(8.0) / -6.220960574271786e-16, 1.0, 1e-11);
}

TEST(InverseLogNormalCdf, UndoesTheCdf) {
  for (double x = -60.0; x <= 8.0; x += 0.37) {
    EXPECT_NEAR(InverseLogNormalCdf(LogNormalCdf(x)), x,
                1e-12 * std::abs(x) + 1e-13)
        << x;
  }
}

TEST(LogNormalMass, IsExactWhereSubtractionWouldCancel) {
  // The density at 3 times the width.
  EXPECT_NEAR(LogNormalMass(3.0, 3.0 + 1e-12), -4.5 - kLogSqrtTwoPi - 27.631021,
              1e-3);
  EXPECT_NEAR(LogNormalMass(-1e-9, 1e-9), std::log(2e-9) - kLogSqrtTwoPi,
              1e-14);
  // Where the two ways of computing it meet they agree.
  for (const double a : {-7.0, -0.5, 0.0, 2.5}) {
    const double width = 1e-3 / std::max(1.0, std::abs(a));
    EXPECT_NEAR(LogNormalMass(a, a + width * 0.999),
                LogNormalMass(a, a + width * 1.002) + std::log(0.999 / 1.002),
                1e-5);
  }
}

TEST(LogNormalMass, PartsAddUp) {
  for (const double a : {-30.0, -3.0, 0.0, 1.0, 25.0}) {
    const double left = LogNormalMass(a, a + 0.4);
    const double right = LogNormalMass(a + 0.4, a + 1.0);
    const double whole = LogNormalMass(a, a + 1.0);
    EXPECT_NEAR(std::exp(left - whole) + std::exp(right - whole), 1.0, 1e-12);
  }
}

TEST(TruncatedNormal, OutsideThereIsNothing) {
  EXPECT_EQ(TruncatedNormalLogPdf(1.1, -1.0, 1.0), -kInfinity);
  EXPECT_EQ(TruncatedNormalLogPdf(-1.1, -1.0, 1.0), -kInfinity);
  EXPECT_NEAR(TruncatedNormalLogPdf(0.0, -1.0, 1.0), -0.5372233869025465,
              1e-15);
}

TEST(TruncatedNormal, PpfUndoesTheShareOfMassAndStaysInside) {
  for (const double a : {-50.0, -9.0, -1.0, 0.0, 0.5, 12.0}) {
    for (const double width : {1e-9, 1e-4, 0.1, 3.0, 60.0}) {
      const double b = a + width;
      double last = a;
      for (const double q : {0.0, 1e-12, 0.1, 0.5, 0.9, 1.0}) {
        const double x = TruncatedNormalPpf(q, a, b);
        EXPECT_GE(x, last);
        EXPECT_LE(x, b);
        last = x;
        if (width < 1e-2 || q < 0.1) continue;
        EXPECT_NEAR(std::exp(LogNormalMass(a, x) - LogNormalMass(a, b)), q,
                    1e-9);
      }
    }
  }
}

}  // namespace
}  // namespace frostline::sampler
