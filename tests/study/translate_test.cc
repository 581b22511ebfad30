// SPDX-License-Identifier: Apache-2.0
#include "study/translate.h"

#include "study/space_builder.h"
#include "tests/support/status_matchers.h"

namespace frostline {
namespace {

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

}  // namespace
}  // namespace frostline
