// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "sampler/draw/finite.h"
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

}  // namespace
}  // namespace frostline::sampler
