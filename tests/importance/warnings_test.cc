// SPDX-License-Identifier: Apache-2.0
#include "importance/evaluator.h"
#include "tests/importance/trials.h"
#include "tests/support/status_matchers.h"

namespace frostline {
namespace {

const std::vector<Objective> kLoss = {{"loss", Direction::kMinimize}};

double Noise(const Point& point, Rng& rng) { return point[0] + rng.Normal(); }

std::vector<std::string> CodesOf(const Space& space, const History& history) {
  EvaluateOptions options;
  options.bootstraps = 0;
  options.trees = 2;
  std::vector<std::string> codes;
  const auto report = Evaluate(space, kLoss, history, options);
  EXPECT_OK(report);
  for (const ReportWarning& warning : report->warnings) {
    codes.push_back(warning.code);
  }
  return codes;
}

Space Mixed() {
  Condition when;
  when.parent = 0;
  when.min = 2.0;
  when.max = 6.0;
  return Space({{"layer.0", Levels{{0, 1, 2, 3, 4, 5, 6}}, {}},
                {"lr", LogUniform{1e-9, 1e-3, true}, {}},
                {"k", IntRange{1, 300, 1, true}, when},
                {"c", Categorical{{"1", "2", "3"}}, when},
                {"x", FloatRange{-1, 1, 0, false}, {}}},
               {}, std::nullopt);
}

TEST(Warnings, UniformTrialsOfAnyKindGetNone) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_THAT(CodesOf(Mixed(), UniformTrials(Mixed(), 400, Noise, seed)),
                testing::IsEmpty())
        << seed;
  }
}

TEST(Warnings, FewTrialsAreSaidToBeFew) {
  EXPECT_THAT(CodesOf(Mixed(), UniformTrials(Mixed(), 20, Noise)),
              testing::Contains("FEW_TRIALS"));
}

TEST(Warnings, TrialsThatCrowdAreSaidToBeAdaptive) {
  const Space space = LevelSpace(3, 7);
  History history = UniformTrials(space, 100, Noise);
  for (int i = 100; i < 200; ++i) {
    Observation trial = history.trials()[static_cast<std::size_t>(i - 100)];
    trial.number = i;
    trial.point[1] = 5.0;
    history.Put(trial);
  }
  EvaluateOptions options;
  options.bootstraps = 0;
  ASSERT_OK_AND_ASSIGN(const Report report,
                       Evaluate(space, kLoss, history, options));
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_EQ(report.warnings[0].code, "ADAPTIVE_SAMPLING");
  EXPECT_THAT(report.warnings[0].parameters, testing::ElementsAre(1));
  EXPECT_THAT(report.warnings[0].sentence, testing::HasSubstr("layer.1"));
}

TEST(Warnings, ALevelNoTrialHasIsNamed) {
  const Space space = LevelSpace(2, 7);
  History all = UniformTrials(space, 100, Noise), some;
  for (const Observation& trial : all.trials()) {
    if (trial.point[1] != 3.0) some.Put(trial);
  }
  EXPECT_THAT(CodesOf(space, some), testing::Contains("LEVEL_NEVER_TRIED"));
}

}  // namespace
}  // namespace frostline
