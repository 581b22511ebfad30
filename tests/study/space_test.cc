// SPDX-License-Identifier: Apache-2.0
#include "study/space.h"

#include <cmath>
#include <functional>
#include <limits>

#include "gtest/gtest.h"
#include "study/freezing.h"
#include "study/space_builder.h"
#include "tests/support/status_matchers.h"

namespace frostline {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Domain, GoodDomainsPass) {
  for (const Domain& domain : std::vector<Domain>{
           Levels{{0, 2e-6, 2e-5}}, Levels{{2e-5}},
           LogUniform{1e-7, 1e-3, true}, FloatRange{0, 0.3},
           FloatRange{1e-4, 1, 0, true}, IntRange{1, 64, 1, true},
           Categorical{{"\"adam\"", "16", "null"}}}) {
    EXPECT_OK(CheckDomain(domain, "f"));
  }
}

TEST(Domain, BadLevelsAreRefused) {
  for (const Levels& levels :
       {Levels{}, Levels{{2e-5, 2e-6}}, Levels{{1e-3, 1e-3}}, Levels{{-1, 1}},
        Levels{{0, kNan}}, Levels{{0, kInf}}}) {
    EXPECT_THAT(CheckDomain(levels, "space.modules[0]"),
                FailsWith(ErrorId::kLevelsInvalid));
  }
}

TEST(Domain, BadRangesAreRefused) {
  for (const Domain& domain : std::vector<Domain>{
           LogUniform{0, 1}, LogUniform{1e-3, 1e-4}, LogUniform{1e-3, 1e-3},
           LogUniform{1e-3, kInf}, FloatRange{1, 0}, FloatRange{0, kNan},
           FloatRange{0, 1, -0.1}, FloatRange{0, 1, 0, true}, IntRange{3, 2},
           IntRange{0, 5, 0}, IntRange{0, 5, 1, true}}) {
    EXPECT_THAT(CheckDomain(domain, "f"), FailsWith(ErrorId::kRangeInvalid));
  }
}

TEST(Domain, ContainsOnlyItsOwnValues) {
  const Domain levels = Levels{{0, 1e-5}};
  EXPECT_TRUE(Contains(levels, 1));
  EXPECT_FALSE(Contains(levels, 2));
  EXPECT_FALSE(Contains(levels, 0.5));
  EXPECT_FALSE(Contains(levels, kNan));
  const Domain rate = LogUniform{1e-6, 1e-3, true};
  EXPECT_TRUE(Contains(rate, 0.0));
  EXPECT_FALSE(Contains(rate, 1e-2));
  EXPECT_FALSE(Contains(LogUniform{1e-6, 1e-3, false}, 0.0));
  EXPECT_TRUE(Contains(FloatRange{0, 1, 0.25}, 0.75));
  EXPECT_FALSE(Contains(FloatRange{0, 1, 0.25}, 0.7));
  EXPECT_FALSE(Contains(IntRange{0, 8, 2}, 3));
}

TEST(Domain, CountsAndListsFiniteDomains) {
  EXPECT_EQ(CountValues(Levels{{0, 1, 2}}), 3);
  EXPECT_EQ(CountValues(IntRange{1, 9, 2}), 5);
  EXPECT_EQ(CountValues(FloatRange{0, 1, 0.25}), 5);
  EXPECT_EQ(CountValues(FloatRange{0, 1}), kInf);
  EXPECT_EQ(ListValues(IntRange{1, 9, 4}), (std::vector<double>{1, 5, 9}));
}

TEST(Domain, EveryListedValueIsInTheDomain) {
  for (const Domain& domain : std::vector<Domain>{
           FloatRange{0, 0.3, 0.1}, FloatRange{0.1, 0.7, 0.1},
           FloatRange{-1, 1, 0.01}, IntRange{-3, 9, 5}, Levels{{0, 1e-5}}}) {
    for (const double value : ListValues(domain)) {
      EXPECT_TRUE(Contains(domain, value)) << value;
    }
  }
}

TEST(Domain, FormatsAsAPersonReads) {
  EXPECT_EQ(FormatValue(Levels{{0, 2e-5}}, 0), "frozen");
  EXPECT_EQ(FormatValue(Levels{{0, 2e-5}}, 1), "2e-05");
  EXPECT_EQ(FormatValue(Categorical{{"\"adam\""}}, 0), "\"adam\"");
}

// depth in 0 … 3, and a rate for each layer that is not below it.
Space PrefixSpace() {
  SpaceBuilder builder({.num_layers = 3});
  builder.SetPrefixDepth(0, 3, "prefix_depth");
  builder.AddModules("layer.*", Levels{{0, 1e-5}}, "m");
  builder.FixModules("head", 1e-3, "h");
  return *builder.Build();
}

TEST(Space, LayersBelowThePrefixDepthHaveNoParameterAndAreFrozen) {
  const Space space = PrefixSpace();
  const auto depth = static_cast<std::size_t>(*space.prefix_depth());
  Point point(static_cast<std::size_t>(space.size()), 1);
  point[depth] = 2;
  const Point canonical = space.Canonical(point);
  EXPECT_OK(space.Check(canonical));
  EXPECT_THAT(space.Check(point), FailsWith(ErrorId::kValueOutOfSpace));
  const auto rates = space.Rates(canonical);
  EXPECT_EQ(rates[1].rate, 0.0);   // layer.0
  EXPECT_EQ(rates[2].rate, 0.0);   // layer.1
  EXPECT_EQ(rates[3].rate, 1e-5);  // layer.2
}

// As deep as all below is frozen, and not by the searched depth alone.
TEST(Space, AFrozenPrefixEndsAtTheFirstModuleThatTrains) {
  const Space space = PrefixSpace();
  EXPECT_EQ(FrozenPrefixOf(space, {0, 1, 1, 1}), 0);
  EXPECT_EQ(FrozenPrefixOf(space, {0, 0, 1, 0}), 1);
  EXPECT_EQ(FrozenPrefixOf(space, {2, kAbsent, kAbsent, 1}), 2);
  EXPECT_EQ(FrozenPrefixOf(space, {2, kAbsent, kAbsent, 0}), 3);
  EXPECT_TRUE(space.IsFrozen(1, {2, kAbsent, kAbsent, 1}));
  EXPECT_FALSE(space.IsFrozen(3, {2, kAbsent, kAbsent, 1}));
}

TEST(Space, WhereTheEmbeddingsTrainThereIsNoPrefix) {
  SpaceBuilder builder({.num_layers = 2});
  builder.AddModules("embeddings", Levels{{0, 1e-5}}, "e");
  builder.AddModules("layer.*", Levels{{0, 1e-5}}, "m");
  const Space space = *builder.Build();
  EXPECT_EQ(FrozenPrefixOf(space, {1, 0, 0}), -1);
  EXPECT_EQ(FrozenPrefixOf(space, {0, 0, 1}), 1);
}

TEST(Space, AMissingOrForeignValueIsOutOfSpace) {
  SpaceBuilder builder({});
  builder.AddParameter("x", FloatRange{0, 1}, "p");
  const Space space = *builder.Build();
  EXPECT_OK(space.Check({0.5}));
  EXPECT_THAT(space.Check({1.5}), FailsWith(ErrorId::kValueOutOfSpace));
  EXPECT_THAT(space.Check({kAbsent}), FailsWith(ErrorId::kValueOutOfSpace));
  EXPECT_THAT(space.Check({}), FailsWith(ErrorId::kValueOutOfSpace));
  EXPECT_THAT(space.Check({0.5, 0.5}), FailsWith(ErrorId::kValueOutOfSpace));
}

TEST(Space, CountsItsPoints) {
  SpaceBuilder builder({});
  builder.AddParameter("a", Levels{{0, 1, 2}}, "a");
  builder.AddParameter("b", IntRange{1, 4}, "b");
  EXPECT_EQ(builder.Build()->CountPoints(), 12);
  builder.AddParameter("c", FloatRange{0, 1}, "c");
  EXPECT_TRUE(std::isinf(builder.Build()->CountPoints()));
}

// A value that leaves a parameter out does not multiply by its values.
TEST(Space, PointsAreCountedUnderTheirConditions) {
  EXPECT_EQ(PrefixSpace().CountPoints(), 8 + 4 + 2 + 1);
  SpaceBuilder builder({.num_layers = 6});
  builder.SetPrefixDepth(1, 6, "prefix_depth");
  builder.TieModules("above", {"layer.*"}, Levels{{1e-4, 3e-4, 1e-3}}, "tie");
  builder.AddParameter("often", IntRange{1, 5}, "often");
  builder.AddParameter(
      "seldom", IntRange{1, 100}, "seldom",
      ConditionSpec{
          .parent = "often", .values = {}, .min = 4.0, .max = std::nullopt});
  EXPECT_EQ(builder.Build()->CountPoints(), (5 * 3 + 1) * (3 + 2 * 100));
}

using testing::Optional;

// Two layers over `levels`, the head fixed.
Space Layers(std::vector<double> levels, double head) {
  SpaceBuilder builder({.num_layers = 2});
  builder.AddModules("layer.*", Levels{std::move(levels)}, "m");
  builder.FixModules("head", head, "h");
  return *builder.Build();
}

TEST(TranslatePoint, ARateKeepsItsMeaningAmongOtherLevels) {
  const Space from = Layers({0, 1e-5, 1e-4}, 1e-3);
  const Space to = Layers({0, 1e-6, 1e-5}, 1e-3);
  EXPECT_THAT(TranslatePoint(from, {0, 1}, to), Optional(Point{0, 2}));
  EXPECT_EQ(TranslatePoint(from, {0, 2}, to), std::nullopt);  // no 1e-4 there
}

TEST(TranslatePoint, AnotherFixedRateIsAnotherTraining) {
  EXPECT_EQ(
      TranslatePoint(Layers({0, 1e-5}, 1e-3), {0, 1}, Layers({0, 1e-5}, 1e-4)),
      std::nullopt);
}

TEST(TranslatePoint, AFixedRateIsAValueWhereItIsSearched) {
  SpaceBuilder searched({.num_layers = 2});
  searched.AddModules("layer.*", Levels{{0, 1e-5}}, "m");
  searched.AddModules("head", LogUniform{1e-4, 1e-2, false}, "h");
  const Space to = *searched.Build();
  const auto said = TranslatePoint(Layers({0, 1e-5}, 1e-3), {0, 1}, to);
  ASSERT_TRUE(said.has_value());
  EXPECT_EQ(to.Rates(*said)[2].rate, 1e-5);  // layer.1
  EXPECT_EQ((*said)[static_cast<std::size_t>(*to.IndexOf("head"))], 1e-3);
}

TEST(TranslatePoint, OtherParametersGoByTheirNames) {
  SpaceBuilder old({});
  old.AddParameter("optimizer", Categorical{{"\"sgd\"", "\"adam\""}}, "o");
  old.AddParameter("batch", IntRange{8, 64}, "b");
  SpaceBuilder young({});
  young.AddParameter("batch", IntRange{16, 32}, "b");
  young.AddParameter("optimizer", Categorical{{"\"adam\"", "\"sgd\""}}, "o");
  const Space from = *old.Build();
  const Space to = *young.Build();
  EXPECT_THAT(TranslatePoint(from, {1, 32}, to), Optional(Point{32, 0}));
  EXPECT_EQ(TranslatePoint(from, {1, 8}, to), std::nullopt);
}

TEST(TranslatePoint, AParameterThatWasNotThereHasNoValue) {
  SpaceBuilder old({});
  old.AddParameter("a", FloatRange{0, 1}, "a");
  SpaceBuilder young({});
  young.AddParameter("b", FloatRange{0, 1}, "b");
  EXPECT_EQ(TranslatePoint(*old.Build(), {0.5}, *young.Build()), std::nullopt);
}

TEST(TranslatePoint, LayersBelowThePrefixDepthAreFrozenModulesElsewhere) {
  SpaceBuilder prefix({.num_layers = 2});
  prefix.SetPrefixDepth(0, 2, "prefix_depth");
  prefix.AddModules("layer.*", Levels{{0, 1e-5}}, "m");
  prefix.FixModules("head", 1e-3, "h");
  const Space from = *prefix.Build();
  const Space to = Layers({0, 1e-5}, 1e-3);
  Point point(static_cast<std::size_t>(from.size()), 1);
  point[static_cast<std::size_t>(*from.prefix_depth())] = 1;
  EXPECT_THAT(TranslatePoint(from, from.Canonical(point), to),
              Optional(Point{0, 1}));
}

TEST(Point, AbsentEqualsAbsent) {
  EXPECT_TRUE(SamePoint({1, kAbsent}, {1, kAbsent}));
  EXPECT_FALSE(SamePoint({1, kAbsent}, {1, 0}));
  EXPECT_FALSE(SamePoint({1}, {1, 0}));
}

TEST(Point, EqualPointsHaveEqualHashes) {
  EXPECT_EQ(HashPoint({0.0, kAbsent}), HashPoint({-0.0, -kAbsent}));
  EXPECT_NE(HashPoint({0.0, 1.0}), HashPoint({1.0, 0.0}));
}

// A point of another study keeps ranks, and a frozen module is frozen in both.
TEST(TranslatePoint, RanksGoByModuleAndWeightsAreNoAdapters) {
  const Levels ranks{.rates = {0, 4, 16}, .are_ranks = true};
  const auto space = [&](const std::function<void(SpaceBuilder&)>& fill) {
    SpaceBuilder builder({.num_layers = 2});
    fill(builder);
    return builder.Build().value();
  };
  const Space each = space([&](SpaceBuilder& b) {
    b.AddRanks("layer.*", ranks, "m");
    b.FixModules("layer.*", 1e-3, "m");
  });
  const Space tied = space([&](SpaceBuilder& b) {
    b.TieRanks("rank", {"layer.*"}, ranks, "t");
    b.FixModules("layer.*", 1e-3, "m");
  });
  const Space weights = space([&](SpaceBuilder& b) {
    b.AddModules("layer.*", Levels{{0, 1e-3}}, "m");
  });
  EXPECT_EQ(TranslatePoint(each, {1, 1}, tied), Point{1});
  EXPECT_EQ(TranslatePoint(each, {1, 2}, tied), std::nullopt);
  EXPECT_EQ(TranslatePoint(each, {0, 2}, tied), std::nullopt);
  EXPECT_EQ(TranslatePoint(tied, {2}, each), (Point{2, 2}));
  EXPECT_EQ(TranslatePoint(each, {0, 0}, weights), (Point{0, 0}));
  EXPECT_EQ(TranslatePoint(each, {1, 1}, weights), std::nullopt);
  EXPECT_EQ(TranslatePoint(weights, {1, 1}, each), std::nullopt);
}

}  // namespace
}  // namespace frostline
