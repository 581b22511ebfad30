// SPDX-License-Identifier: Apache-2.0
#include "sampler/auto.h"

#include "sampler/draw/random.h"
#include "sampler/factory.h"
#include "tests/support/objectives.h"
#include "tests/support/status_matchers.h"

namespace frostline::sampler {
namespace {

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

}  // namespace
}  // namespace frostline::sampler
