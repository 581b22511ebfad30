// SPDX-License-Identifier: Apache-2.0
#include "study/space.h"

#include <cmath>

#include "study/frozen_prefix.h"
#include "study/space_builder.h"
#include "tests/support/status_matchers.h"

namespace frostline {
namespace {

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

}  // namespace
}  // namespace frostline
