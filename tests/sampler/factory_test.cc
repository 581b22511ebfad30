// SPDX-License-Identifier: Apache-2.0
#include "sampler/factory.h"

#include <gtest/gtest.h>

#include "sampler/auto.h"
#include "sampler/draw/random.h"
#include "sampler/sampler.h"
#include "tests/support/objectives.h"
#include "tests/support/status_matchers.h"

namespace frostline::sampler {
namespace {

Space OneParameter(const Domain& domain) {
  return Space({{"p", domain, std::nullopt}}, {}, std::nullopt);
}

TEST(MakeSampler, AnUnknownNameIsRefusedWithWhatThereIs) {
  const auto made = MakeSampler({.name = "tep", .options = {}},
                                OneParameter(Levels{{0, 1}}), kLoss);
  EXPECT_THAT(made, FailsAt(ErrorId::kSamplerInvalid, "sampler.name"));
  const std::string fix = DetailOf(made.status())->fix;
  EXPECT_THAT(fix, testing::StartsWith("did you mean tpe? there are: "));
  for (const std::string& name : SamplerNames()) {
    EXPECT_THAT(fix, testing::HasSubstr(name));
  }
}

TEST(MakeSampler, EveryNameRefusesAnOptionNobodyKnows) {
  for (const std::string& name : SamplerNames()) {
    EXPECT_THAT(MakeSampler({.name = name, .options = {{"depth", "3"}}},
                            OneParameter(Levels{{0, 1}}), kLoss),
                FailsAt(ErrorId::kSamplerInvalid, "sampler.options.depth"))
        << name;
  }
}

TEST(MakeSampler, KnownOptionsAreReadStrictly) {
  const auto make = [](const std::string& name, const Options& options) {
    return MakeSampler({.name = name, .options = options},
                       OneParameter(LogUniform{1e-6, 1e-3, true}), kLoss)
        .status();
  };
  EXPECT_OK(make("tpe", {{"startup_trials", "0"}, {"multivariate", "false"}}));
  EXPECT_THAT(make("tpe", {{"candidates", "0"}}),
              FailsWith(ErrorId::kSamplerInvalid));
  EXPECT_THAT(make("random", {{"frozen_share", "1.01"}}),
              FailsWith(ErrorId::kSamplerInvalid));
}

OptionReader Reader(const Options& options) {
  return OptionReader(ErrorId::kSamplerInvalid, "sampler x", "sampler.options",
                      options);
}

TEST(OptionReader, ReadsWhatIsThereAndKeepsTheDefaultOfTheRest) {
  const Options options = {{"a", "7"}, {"b", "0.25"}, {"c", "false"}};
  OptionReader reader = Reader(options);
  EXPECT_EQ(reader.Int("a", 1, 0, 10), 7);
  EXPECT_EQ(reader.Number("b", 1.0, 0.0, 1.0), 0.25);
  EXPECT_FALSE(reader.Bool("c", true));
  EXPECT_EQ(reader.OneOf("d", "x", {"x", "y"}), "x");
  EXPECT_OK(reader.Finish());
}

TEST(OptionReader, RefusesWhatIsNotWhollyOfItsType) {
  for (const char* text : {"", " 5", "5 ", "+5", "5.0", "0x5", "five", "11",
                           "-1", "99999999999999999999"}) {
    const Options options = {{"a", text}};
    OptionReader reader = Reader(options);
    EXPECT_EQ(reader.Int("a", 3, 0, 10), 3);
    EXPECT_THAT(reader.Finish(),
                FailsAt(ErrorId::kSamplerInvalid, "sampler.options.a"))
        << text;
  }
  for (const char* text : {"nan", "inf", "1e999", "0.5x", "1.5"}) {
    const Options options = {{"a", text}};
    OptionReader reader = Reader(options);
    reader.Number("a", 0.5, 0.0, 1.0);
    EXPECT_THAT(reader.Finish(), FailsWith(ErrorId::kSamplerInvalid)) << text;
  }
  for (const char* text : {"True", "1", "yes", ""}) {
    const Options options = {{"a", text}};
    OptionReader reader = Reader(options);
    reader.Bool("a", true);
    EXPECT_THAT(reader.Finish(), FailsWith(ErrorId::kSamplerInvalid)) << text;
  }
}

TEST(OptionReader, AnUnknownOptionIsRefusedWithTheNearestName) {
  const Options options = {{"startup_trails", "5"}};
  OptionReader reader = Reader(options);
  reader.Int("candidates", 1, 0, 10);
  reader.Int("startup_trials", 1, 0, 10);
  const absl::Status status = reader.Finish();
  EXPECT_THAT(status, FailsAt(ErrorId::kSamplerInvalid,
                              "sampler.options.startup_trails"));
  EXPECT_THAT(DetailOf(status)->fix,
              testing::AllOf(testing::HasSubstr("did you mean startup_trials?"),
                             testing::HasSubstr("candidates")));
}

TEST(NearestName, IsEmptyWhenNothingIsNear) {
  EXPECT_EQ(NearestName("tpee", {"grid", "random", "tpe"}), "tpe");
  EXPECT_EQ(NearestName("bayesian-optimisation", {"grid", "tpe"}), "");
}

TEST(NearestName, DoesNotMindCapitals) {
  EXPECT_EQ(NearestName("TPE", {"grid", "qmc", "tpe"}), "tpe");
  EXPECT_EQ(NearestName("Levels-GP", {"levels-gp", "qmc"}), "levels-gp");
}

const std::vector<Objective> kTwo = {{"accuracy", Direction::kMaximize},
                                     {"seconds", Direction::kMinimize}};

Space Modules(int modules) {
  std::vector<Parameter> parameters;
  for (int i = 0; i < modules; ++i) {
    parameters.push_back(
        {"p" + std::to_string(i), Levels{{0, 1e-5, 1e-4}}, {}});
  }
  return Space(std::move(parameters), {}, std::nullopt);
}

TEST(ChooseSampler, TriesEveryPointWhereTheBudgetAllowsIt) {
  EXPECT_EQ(ChooseSampler(Modules(3), kLoss, 27).name, "brute");
  EXPECT_EQ(ChooseSampler(Modules(3), kLoss, 26).name, "levels-gp");
  EXPECT_EQ(ChooseSampler(Modules(3), kTwo, 27).name, "brute");
}

TEST(ChooseSampler, LearnsWhereItMustAndOnlyThere) {
  EXPECT_EQ(ChooseSampler(Modules(13), kLoss, 200).name, "levels-gp");
  EXPECT_EQ(ChooseSampler(Modules(13), kTwo, 200).name, "motpe");
  EXPECT_EQ(ChooseSampler(Modules(65), kLoss, 200).name, "tpe");
  EXPECT_EQ(ChooseSampler(Modules(0), kLoss, 200).name, "random");
}

TEST(ChooseSampler, SaysWhy) {
  EXPECT_THAT(ChooseSampler(Modules(3), kLoss, 30).why,
              testing::AllOf(testing::HasSubstr("27 points"),
                             testing::HasSubstr("30 trials")));
  EXPECT_THAT(ChooseSampler(Modules(3), kLoss, 20).why,
              testing::StartsWith("every parameter has levels"));
}

TEST(ResolveSampler, NamesWhatProposes) {
  EXPECT_EQ(ResolveSampler("levels-gp", {}, Modules(64), kLoss), "levels-gp");
  EXPECT_EQ(ResolveSampler("levels-gp", {}, Modules(65), kLoss), "tpe");
  EXPECT_EQ(ResolveSampler("levels-gp", {}, Modules(3), kTwo), "tpe");
  EXPECT_EQ(
      ResolveSampler("auto", {{kPickOption, "random"}}, Modules(3), kLoss),
      "random");
  EXPECT_EQ(ResolveSampler("auto", {}, Modules(65), kLoss), "tpe");
  EXPECT_EQ(ResolveSampler("nonsense", {}, Modules(65), kLoss), "nonsense");
}

// Whether both propose the same for ten trials, with thirty behind them.
bool SearchAlike(const SamplerSpec& a, const SamplerSpec& b) {
  const Space space = Modules(4);
  History history;
  for (std::int64_t number = 0; number < 30; ++number) {
    Rng rng(3, static_cast<std::uint64_t>(number));
    Observation trial;
    trial.number = number;
    trial.state = TrialState::kSucceeded;
    trial.point = DrawPoint(space, 0.2, rng);
    trial.values = {trial.point[0] + trial.point[1]};
    history.Put(std::move(trial));
  }
  const auto first = *MakeSampler(a, space, kLoss);
  const auto second = *MakeSampler(b, space, kLoss);
  for (std::int64_t number = 30; number < 40; ++number) {
    Rng one(5, static_cast<std::uint64_t>(number));
    Rng other(5, static_cast<std::uint64_t>(number));
    const auto left = first->Propose(history, number, one);
    const auto right = second->Propose(history, number, other);
    if (!left.ok() || !right.ok() || !SamePoint(*left, *right)) return false;
  }
  return true;
}

TEST(Auto, IsWhatItPicked) {
  const SamplerSpec gp = {.name = "levels-gp", .options = {}};
  const SamplerSpec random = {.name = "random", .options = {}};
  const SamplerSpec picked = {.name = "auto", .options = {{"pick", "random"}}};
  EXPECT_TRUE(SearchAlike({.name = "auto", .options = {}}, gp));
  EXPECT_TRUE(SearchAlike(picked, random));
  EXPECT_FALSE(SearchAlike(picked, gp));
}

TEST(Auto, RefusesAPickThatIsNone) {
  EXPECT_THAT(MakeSampler({.name = "auto", .options = {{"pick", "auto"}}},
                          Modules(2), kLoss),
              FailsAt(ErrorId::kSamplerInvalid, "sampler.options.pick"));
}

Space ParallelModules(int modules) {
  std::vector<Parameter> parameters;
  for (int i = 0; i < modules; ++i) {
    parameters.push_back(
        {"p" + std::to_string(i), Levels{{0, 1e-5, 1e-4}}, {}});
  }
  return Space(std::move(parameters), {}, std::nullopt);
}

std::int64_t Of(const std::string& sampler, const TrialCounts& trials,
                std::map<std::string, std::string> options = {}) {
  return UsefulParallelism({.name = sampler, .options = std::move(options)},
                           ParallelModules(13), kLoss, trials);
}

TEST(UsefulParallelism, BeginsWithWhatIsDrawnBlindAnyway) {
  EXPECT_EQ(Of("levels-gp", {.budget = 200}), 14);
  EXPECT_EQ(Of("tpe", {.budget = 200}), 10);
  EXPECT_EQ(Of("tpe", {.budget = 200}, {{"compat", "v5"}}), 10);
  EXPECT_EQ(Of("auto", {.budget = 200}), 14);
  EXPECT_EQ(Of("tpe", {.budget = 200}, {{"startup_trials", "40"}}), 40);
  EXPECT_EQ(Of("tpe", {.budget = 200}, {{"startup_trials", "0"}}), 1);
}

TEST(UsefulParallelism, GrowsWithResultsAndNotWithFailures) {
  EXPECT_EQ(Of("levels-gp", {.results = 100, .ended = 100, .budget = 500}), 50);
  EXPECT_EQ(Of("levels-gp", {.results = 0, .ended = 100, .budget = 500}), 14);
}

TEST(UsefulParallelism, IsNeverMoreThanIsLeft) {
  EXPECT_EQ(Of("levels-gp", {.results = 195, .ended = 195, .budget = 200}), 5);
  EXPECT_EQ(Of("random", {.results = 10, .ended = 10, .budget = 200}), 190);
  EXPECT_EQ(Of("random", {.results = 9, .ended = 9, .budget = 8}), 0);
  EXPECT_EQ(
      UsefulParallelism({.name = "brute", .options = {}}, ParallelModules(3),
                        kLoss, {.results = 7, .ended = 7, .budget = 99}),
      20);
}

TEST(UsefulParallelism, WhatNeverLooksAtResultsTakesAll) {
  for (const char* sampler : {"random", "qmc", "grid", "brute"}) {
    EXPECT_EQ(Of(sampler, {.budget = 100}), 100) << sampler;
  }
  EXPECT_EQ(
      UsefulParallelism(
          {.name = "levels-gp", .options = {}, .purpose = Purpose::kUnderstand},
          ParallelModules(13), kLoss, {.budget = 100}),
      100);
  EXPECT_EQ(UsefulParallelism(
                {.name = "tpe", .options = {}, .purpose = Purpose::kBoth},
                ParallelModules(13), kLoss, {.budget = 100}),
            10);
}

TEST(UsefulParallelism, GoesByWhatProposesWhereLevelsGpHandsOver) {
  EXPECT_EQ(UsefulParallelism({.name = "levels-gp", .options = {}},
                              ParallelModules(65), kLoss, {.budget = 100}),
            10);
}

}  // namespace
}  // namespace frostline::sampler
