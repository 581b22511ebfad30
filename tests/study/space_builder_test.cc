// SPDX-License-Identifier: Apache-2.0
#include "study/space_builder.h"

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "study/freezing.h"
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

constexpr char kField[] = "space.layerwise_decay";

NumberSpec Fixed(double number) { return {std::nullopt, number}; }
NumberSpec Some(std::vector<double> numbers) {
  return {Levels{std::move(numbers)}};
}

absl::StatusOr<Space> Built(
    const NumberSpec& base_rate, const NumberSpec& decay,
    const std::function<void(SpaceBuilder&)>& more = [](SpaceBuilder&) {}) {
  SpaceBuilder builder({.num_layers = 3});
  builder.SetLayerwiseDecay(base_rate, decay, kField);
  more(builder);
  return builder.Build();
}

std::vector<double> RatesOf(const Space& space, const Point& point) {
  std::vector<double> rates;
  for (const ModuleRate& each : space.Rates(point)) rates.push_back(each.rate);
  return rates;
}

// Layers counted from 1: layer i of 3 has 2e-5 * .9^(3 - i).
TEST(LayerwiseDecay, RatesFallFromTheHeadDown) {
  ASSERT_OK_AND_ASSIGN(const Space space,
                       Built(Some({2e-5, 2.5e-5}), Some({0.9, 0.95, 1})));
  ASSERT_EQ(space.size(), 2);
  EXPECT_EQ(space.parameters()[0].name, "base_rate");
  EXPECT_EQ(space.parameters()[1].name, "decay");
  const std::vector<double> rates = RatesOf(space, {0, 0});
  const std::vector<double> want = {2e-5 * 0.9 * 0.9 * 0.9,  // embeddings
                                    2e-5 * 0.9 * 0.9,        // layer.0
                                    2e-5 * 0.9,
                                    2e-5,   // layer.2
                                    2e-5,   // pooler
                                    2e-5};  // head
  ASSERT_EQ(rates.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_NEAR(rates[i], want[i], 1e-18) << i;
  }
  EXPECT_EQ(RatesOf(space, {1, 2}), std::vector<double>(6, 2.5e-5));
}

TEST(LayerwiseDecay, ConstantsAreWhatTheStrategyOfThatNameGives) {
  ASSERT_OK_AND_ASSIGN(const Space space, Built(Fixed(2e-5), Fixed(0.85)));
  SpaceBuilder builder({.num_layers = 3});
  builder.SetDefault(
      {.kind = StrategyKind::kDecay, .rate = 2e-5, .factor = 0.85}, "d");
  ASSERT_OK_AND_ASSIGN(const Space strategy, builder.Build());
  EXPECT_EQ(space.size(), 0);
  EXPECT_EQ(RatesOf(space, {}), RatesOf(strategy, {}));
}

TEST(LayerwiseDecay, AModuleWithAnEntryKeepsIt) {
  ASSERT_OK_AND_ASSIGN(const Space space,
                       Built(Fixed(1.0), Some({0.5, 1}), [](SpaceBuilder& b) {
                         b.FixModules("layer.1", 0.0, "m");
                       }));
  EXPECT_EQ(RatesOf(space, {0}),
            (std::vector<double>{0.125, 0.25, 0, 1, 1, 1}));
}

// At depth 2 only the top layer is left, whatever the factor.
TEST(LayerwiseDecay, WhatADepthFreezesHasNoRateAndTheFactorNoValue) {
  ASSERT_OK_AND_ASSIGN(const Space space,
                       Built(Fixed(1.0), Some({0.5, 1}), [](SpaceBuilder& b) {
                         b.SetPrefixDepth(0, 3, "prefix_depth");
                       }));
  const Point shallow = {1, 0};
  const Point deep = {2, kAbsent};
  EXPECT_OK(space.Check(shallow));
  EXPECT_OK(space.Check(deep));
  EXPECT_FALSE(space.Check({2, 0}).ok());
  EXPECT_EQ(RatesOf(space, shallow), (std::vector<double>{0, 0, 0.5, 1, 1, 1}));
  EXPECT_EQ(RatesOf(space, deep), (std::vector<double>{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(FrozenPrefixOf(space, deep), 2);
}

TEST(LayerwiseDecay, WithoutADepthNothingIsFrozen) {
  ASSERT_OK_AND_ASSIGN(const Space space, Built(Fixed(1.0), Some({0.5, 1})));
  EXPECT_EQ(FrozenPrefixChances(space, 3, 0.5),
            (std::vector<double>{1, 0, 0, 0, 0}));
}

TEST(LayerwiseDecay, WhatMakesNoSenseIsRefused) {
  const auto deep = [](SpaceBuilder& b) {
    b.SetDefault({.kind = StrategyKind::kFull, .rate = 1}, "d");
  };
  const auto taken = [](SpaceBuilder& b) {
    b.FixModules("layer.*", 1e-5, "m");
    b.FixModules("embeddings", 1e-5, "m");
  };
  const std::string field = kField;
  EXPECT_THAT(Built(Fixed(0), Fixed(0.9)),
              FailsAt(ErrorId::kRangeInvalid, field + ".base_rate"));
  EXPECT_THAT(Built(Some({0, 1e-5}), Fixed(0.9)),
              FailsAt(ErrorId::kRangeInvalid, field + ".base_rate"));
  EXPECT_THAT(Built(Fixed(1e-5), Some({0.9, 1.1})),
              FailsAt(ErrorId::kRangeInvalid, field + ".decay"));
  EXPECT_THAT(Built(Fixed(1e-5), {FloatRange{NAN, 1}}),
              FailsAt(ErrorId::kRangeInvalid, field + ".decay"));
  EXPECT_THAT(Built(Fixed(1e-5), Fixed(0.9), deep),
              FailsAt(ErrorId::kModuleDuplicate, field));
  EXPECT_THAT(Built(Fixed(1e-5), Fixed(0.9), taken),
              FailsAt(ErrorId::kModuleDuplicate, field));
}

// Ranks of adapters, of which 0 is none.

const Levels kRanks{.rates = {0, 4, 16}, .are_ranks = true};
const Levels kSomeRank{.rates = {4, 16}, .are_ranks = true};

std::vector<std::string> NamesOf(const Space& space) {
  std::vector<std::string> names;
  for (const Parameter& each : space.parameters()) names.push_back(each.name);
  return names;
}

TEST(Ranks, AModuleHasTheRateThatItHasFromElsewhere) {
  SpaceBuilder builder(kShape);
  builder.SetDefault({.kind = StrategyKind::kFull, .rate = 3e-4}, "default");
  builder.AddRanks("layer.*", kRanks, "m[0]");
  builder.FixModules("layer.2", 1e-3, "m[1]");
  ASSERT_OK_AND_ASSIGN(const Space space, builder.Build());
  EXPECT_EQ(NamesOf(space),
            (std::vector<std::string>{"rank.layer.0", "rank.layer.1",
                                      "rank.layer.2"}));
  EXPECT_EQ(FormatValue(space.parameters()[0].domain, 0), "none");
  EXPECT_EQ(FormatValue(space.parameters()[0].domain, 2), "16");
  const auto rates = space.Rates({0, 1, 2});
  EXPECT_EQ(rates[0].rank, std::nullopt);  // embeddings
  EXPECT_EQ(rates[1].rank, 0);             // layer.0
  EXPECT_EQ(rates[1].rate, 0.0);
  EXPECT_EQ(rates[2].rank, 4);
  EXPECT_EQ(rates[2].rate, 3e-4);
  EXPECT_EQ(rates[3].rank, 16);
  EXPECT_EQ(rates[3].rate, 1e-3);
  EXPECT_EQ(FrozenPrefixOf(space, {0, 0, 1}), -1);  // embeddings train
}

TEST(Ranks, ARateOfItsOwnWaitsForARankAndARankForARate) {
  SpaceBuilder by_rank(kShape);
  by_rank.AddRanks("layer.1", kRanks, "m[0]");
  by_rank.AddModules("layer.1", Levels{{1e-4, 1e-3}}, "m[0]");
  ASSERT_OK_AND_ASSIGN(const Space one, by_rank.Build());
  EXPECT_EQ(NamesOf(one),
            (std::vector<std::string>{"rank.layer.1", "layer.1"}));
  EXPECT_EQ(one.CountPoints(), 5);  // none, or two ranks at two rates
  EXPECT_OK(one.Check({0, kAbsent}));
  EXPECT_THAT(one.Check({0, 1}), FailsWith(ErrorId::kValueOutOfSpace));
  EXPECT_EQ(one.Rates({2, 1})[2].rank, 16);
  EXPECT_EQ(one.Rates({2, 1})[2].rate, 1e-3);
  EXPECT_EQ(one.modules()[2].parameter, 0);

  SpaceBuilder by_rate(kShape);
  by_rate.AddRanks("layer.1", kSomeRank, "m[0]");
  by_rate.AddModules("layer.1", LogUniform{1e-5, 1e-3, true}, "m[0]");
  ASSERT_OK_AND_ASSIGN(const Space other, by_rate.Build());
  EXPECT_EQ(NamesOf(other),
            (std::vector<std::string>{"layer.1", "rank.layer.1"}));
  EXPECT_OK(other.Check({0.0, kAbsent}));
  EXPECT_OK(other.Check({1e-5, 0}));
  EXPECT_EQ(other.Rates({0.0, kAbsent})[2].rank, 0);
  EXPECT_EQ(other.Rates({1e-4, 1})[2].rank, 16);
  EXPECT_EQ(other.modules()[2].parameter, 0);
}

TEST(Ranks, ADepthFreezesAdaptersBelowIt) {
  SpaceBuilder builder(kShape);
  builder.SetDefault({.kind = StrategyKind::kFull, .rate = 3e-4}, "default");
  builder.AddRanks("layer.*", kRanks, "m[0]");
  builder.AddModules("layer.0", Levels{{1e-4, 1e-3}}, "m[1]");
  builder.SetPrefixDepth(0, 2, "depth");
  ASSERT_OK_AND_ASSIGN(const Space space, builder.Build());
  EXPECT_EQ(NamesOf(space),
            (std::vector<std::string>{"prefix_depth", "rank.layer.0", "layer.0",
                                      "rank.layer.1", "rank.layer.2"}));
  const Point deep = space.Canonical({2, 1, 1, 2, 1});
  EXPECT_TRUE(SamePoint(deep, {2, kAbsent, kAbsent, kAbsent, 1}));
  EXPECT_EQ(space.Rates(deep)[2].rank, 0);
  EXPECT_EQ(space.Rates(deep)[3].rank, 4);
  EXPECT_EQ(FrozenPrefixOf(space, deep), 2);
}

TEST(Ranks, ATieIsOneRankForManyAndTheirRatesMayBeTiedToo) {
  SpaceBuilder builder(kShape);
  builder.TieRanks("rank", {"layer.0", "layer.1"}, kRanks, "ties[0]");
  builder.TieModules("rate", {"layer.*"}, Levels{{1e-4, 1e-3}}, "ties[1]");
  ASSERT_OK_AND_ASSIGN(const Space space, builder.Build());
  EXPECT_EQ(space.CountPoints(), 6);  // the rate is layer.2's as well
  const auto rates = space.Rates({1, 1});
  EXPECT_EQ(rates[1].rank, 4);
  EXPECT_EQ(rates[2].rank, 4);
  EXPECT_EQ(rates[3].rank, std::nullopt);
  EXPECT_EQ(rates[3].rate, 1e-3);
}

TEST(Ranks, WhatCannotBeTrainedIsRefused) {
  const auto build = [](const std::function<void(SpaceBuilder&)>& fill) {
    SpaceBuilder builder({.num_layers = 3, .heads_per_layer = 2});
    fill(builder);
    return builder.Build().status();
  };
  for (const char* const module :
       {"embeddings", "pooler", "head", "layer.1.head.0"}) {
    EXPECT_THAT(
        build([&](SpaceBuilder& b) { b.AddRanks(module, kRanks, "m"); }),
        FailsAt(ErrorId::kLevelsInvalid, "m.rank"))
        << module;
  }
  EXPECT_THAT(
      build([](SpaceBuilder& b) { b.AddRanks("layer.1", kRanks, "m"); }),
      FailsAt(ErrorId::kStudyFieldMissing, "m"));
  EXPECT_THAT(build([](SpaceBuilder& b) {
                b.AddRanks("layer.1", kRanks, "m");
                b.AddModules("layer.1", kLevels, "m");
              }),
              FailsAt(ErrorId::kLevelsInvalid, "m.rank"));
  EXPECT_THAT(build([](SpaceBuilder& b) {
                b.AddRanks("layer.*", kRanks, "m");
                b.AddRanks("layer.1.ffn", kRanks, "n");
              }),
              FailsAt(ErrorId::kModuleDuplicate, "n.rank"));
  EXPECT_THAT(build([](SpaceBuilder& b) {
                b.AddRanks("layer.1", kRanks, "m");
                b.AddModules("layer.1.ffn", kLevels, "n");
              }),
              FailsAt(ErrorId::kModuleDuplicate, "n"));
  for (const std::vector<double>& ranks :
       {std::vector<double>{0, 4, 4}, {1.5}, {-1, 4}, {70'000}, {}}) {
    EXPECT_THAT(build([&](SpaceBuilder& b) {
                  b.AddRanks("layer.1", {.rates = ranks, .are_ranks = true},
                             "m");
                }),
                FailsAt(ErrorId::kLevelsInvalid, "m.rank"));
  }
}

}  // namespace
}  // namespace frostline
