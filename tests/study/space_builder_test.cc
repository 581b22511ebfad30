// SPDX-License-Identifier: Apache-2.0
#include "study/space_builder.h"

#include "tests/support/status_matchers.h"

namespace frostline {
namespace {

const ModelShape kShape{.num_layers = 3};
const Levels kLevels{{0, 1e-5, 1e-4}};

TEST(SpaceBuilder, GivesEverySelectedModuleAParameterAndTheRestTheDefault) {
  SpaceBuilder builder(kShape);
  builder.SetDefault({.kind = StrategyKind::kFull, .rate = 3e-4}, "default");
  builder.AddModules("layer.*", kLevels, "m[0]");
  builder.FixModules("embeddings", 0.0, "m[1]");
  ASSERT_OK_AND_ASSIGN(const Space space, builder.Build());
  EXPECT_EQ(space.size(), 3);
  const auto rates = space.Rates({0, 1, 2});
  ASSERT_EQ(rates.size(), 6u);
  EXPECT_EQ(rates[0].rate, 0.0);   // embeddings
  EXPECT_EQ(rates[1].rate, 0.0);   // layer.0
  EXPECT_EQ(rates[3].rate, 1e-4);  // layer.2
  EXPECT_EQ(rates[5].rate, 3e-4);  // head
}

TEST(SpaceBuilder, TwoEntriesForOneModuleAreRefused) {
  SpaceBuilder builder(kShape);
  builder.AddModules("layer.*", kLevels, "m[0]");
  builder.AddModules("layer.1.ffn", kLevels, "m[1]");
  EXPECT_THAT(builder.Build(), FailsWith(ErrorId::kModuleDuplicate));
}

TEST(SpaceBuilder, TheFirstMistakeIsTold) {
  SpaceBuilder builder(kShape);
  builder.AddModules("layer.9", kLevels, "m[0]");
  builder.AddModules("layer.0", Levels{}, "m[1]");
  EXPECT_THAT(builder.Build(), FailsWith(ErrorId::kModuleUnknown));
}

TEST(SpaceBuilder, OneNameForTwoParametersIsRefused) {
  SpaceBuilder builder(kShape);
  builder.AddParameter("dropout", FloatRange{0, 1}, "p[0]");
  builder.AddParameter("dropout", FloatRange{0, 1}, "p[1]");
  EXPECT_THAT(builder.Build(), FailsWith(ErrorId::kParameterDuplicate));
}

TEST(SpaceBuilder, ConditionsThatCannotBeMetAreRefused) {
  const auto build = [](const std::string& parent,
                        const std::vector<std::string>& values) {
    ConditionSpec when;
    when.parent = parent;
    when.values = values;
    SpaceBuilder builder(kShape);
    builder.AddParameter("optimizer", Categorical{{"\"adam\"", "\"sgd\""}},
                         "p[0]");
    builder.AddParameter("momentum", FloatRange{0, 1}, "p[1]", when);
    return builder.Build();
  };
  EXPECT_OK(build("optimizer", {"sgd"}));
  EXPECT_THAT(build("optimiser", {"sgd"}),
              FailsWith(ErrorId::kConditionInvalid));
  EXPECT_THAT(build("optimizer", {"lion"}),
              FailsWith(ErrorId::kConditionInvalid));
  EXPECT_THAT(build("optimizer", {}), FailsWith(ErrorId::kConditionInvalid));
}

TEST(SpaceBuilder, TooManyParametersAreRefusedWhereTheyBecomeTooMany) {
  SpaceBuilder builder(kShape);
  for (int i = 0; i <= kMaxParameters; ++i) {
    builder.AddParameter("p" + std::to_string(i), FloatRange{0, 1},
                         "p[" + std::to_string(i) + "]");
  }
  EXPECT_THAT(builder.Build(), FailsAt(ErrorId::kSpaceTooLarge, "p[512]"));
}

TEST(SpaceBuilder, ATieIsOneParameterForManyModules) {
  SpaceBuilder builder(kShape);
  builder.TieModules("lower", {"layer.0", "layer.1"}, kLevels, "ties[0]");
  ASSERT_OK_AND_ASSIGN(const Space space, builder.Build());
  EXPECT_EQ(space.size(), 1);
  const auto rates = space.Rates({2});
  EXPECT_EQ(rates[1].rate, 1e-4);
  EXPECT_EQ(rates[2].rate, 1e-4);
}

TEST(SpaceBuilder, APrefixDepthOutOfTheModelIsRefused) {
  SpaceBuilder builder(kShape);
  builder.SetPrefixDepth(0, 4, "prefix_depth");
  EXPECT_THAT(builder.Build(), FailsWith(ErrorId::kRangeInvalid));
}

}  // namespace
}  // namespace frostline
