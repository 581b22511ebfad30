// SPDX-License-Identifier: Apache-2.0
#include "importance/evaluator.h"
#include "sampler/factory.h"
#include "tests/importance/trials.h"
#include "tests/support/status_matchers.h"

namespace frostline::importance {
namespace {

const std::vector<Objective> kCost = {{"cost", Direction::kMinimize}};

double Noise(const Point& point, Rng& rng) { return point[0] + rng.Normal(); }

std::vector<std::string> WarningCodesOf(const Space& space,
                                        const History& history) {
  EvaluateOptions options;
  options.bootstraps = 0;
  options.trees = 2;
  std::vector<std::string> codes;
  const auto report = Evaluate(space, kCost, history, options);
  EXPECT_OK(report);
  for (const ReportWarning& warning : report->warnings) {
    codes.push_back(warning.code);
  }
  return codes;
}

Space MixedHistory() {
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
    EXPECT_THAT(WarningCodesOf(MixedHistory(),
                               UniformTrials(MixedHistory(), 400, Noise, seed)),
                testing::IsEmpty())
        << seed;
  }
}

TEST(Warnings, FewTrialsAreSaidToBeFew) {
  EXPECT_THAT(
      WarningCodesOf(MixedHistory(), UniformTrials(MixedHistory(), 20, Noise)),
      testing::Contains("FEW_TRIALS"));
}

TEST(Warnings, TrialsThatCrowdAreSaidToBeAdaptive) {
  const Space space = LevelSpace(3, 7);
  History history;
  for (int i = 0; i < 200; ++i) {  // 10 of each level, 130 more of level 5
    const double level = i < 70 ? i % 7 : 5.0;
    history.Put(Succeeded(
        i, {static_cast<double>(i % 7), level, static_cast<double>(i / 7 % 7)},
        i % 7));
  }
  EvaluateOptions options;
  options.bootstraps = 0;
  ASSERT_OK_AND_ASSIGN(const Report report,
                       Evaluate(space, kCost, history, options));
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_EQ(report.warnings[0].code, "ADAPTIVE_SAMPLING");
  EXPECT_THAT(report.warnings[0].parameters, testing::ElementsAre(1));
  EXPECT_THAT(report.warnings[0].sentence,
              testing::HasSubstr("not spread evenly over layer.1"));
  EXPECT_THAT(report.warnings[0].sentence,
              testing::HasSubstr("random or qmc draw a third"));
  // Where modules take their rates from it, a plan can ask.
  std::vector<ModuleBinding> bindings(1);
  bindings[0].module = "layer.0";
  bindings[0].parameter = 0;
  const Space modules(space.parameters(), bindings, std::nullopt);
  ASSERT_OK_AND_ASSIGN(const Report of_modules,
                       Evaluate(modules, kCost, history, options));
  EXPECT_THAT(of_modules.warnings[0].sentence,
              testing::HasSubstr("plan --ask 8 --enqueue"));
}

// Accuracy 0.5, 0.51, …, and one trial that says otherwise.
absl::StatusOr<Report> OfAccuracies(const std::vector<Objective>& objectives,
                                    std::int64_t odd, double odd_value) {
  const Space space = LevelSpace(3, 7);
  History history;
  for (int i = 0; i < 49; ++i) {
    const int row = i / 7;
    history.Put(Succeeded(
        i, {static_cast<double>(i % 7), static_cast<double>(row), 0.0},
        i > 0 && i % odd == 0 ? odd_value : .5 + .01 * i));
  }
  EvaluateOptions options;
  options.bootstraps = 0;
  return Evaluate(space, objectives, history, options);
}

std::vector<std::string> OutOfRangeIn(const absl::StatusOr<Report>& report) {
  EXPECT_OK(report);
  std::vector<std::string> sentences;
  for (const ReportWarning& warning : report->warnings) {
    if (warning.code != "METRIC_OUT_OF_RANGE") continue;
    sentences.push_back(warning.sentence);
  }
  return sentences;
}

TEST(Warnings, AMetricThatLeavesItsRangeIsNamedWithValueAndTrial) {
  const std::vector<Objective> presumed = {{"accuracy", Direction::kMaximize}};
  std::vector<Objective> stated = presumed;
  stated[0].range = MetricRange{0.0, 100.0};
  EXPECT_THAT(OutOfRangeIn(OfAccuracies(presumed, 7, .3)), testing::IsEmpty());
  EXPECT_THAT(
      OutOfRangeIn(OfAccuracies(presumed, 7, 93.4)),
      testing::ElementsAre(testing::HasSubstr("trial 7 has accuracy 93.4")));
  EXPECT_THAT(OutOfRangeIn(OfAccuracies(stated, 7, 93.4)), testing::IsEmpty());
  EXPECT_THAT(OutOfRangeIn(OfAccuracies(stated, 8, -.1)),
              testing::ElementsAre(
                  testing::HasSubstr("trial 8 has accuracy -0.1, outside of "
                                     "the stated 0 … 100")));
}

// As the sampler proposes them to make the sum of all rates small.
History TrialsOf(const std::string& name, const Space& space, int trials) {
  const auto sampler =
      sampler::MakeSampler({.name = name, .options = {}}, space, kCost);
  EXPECT_OK(sampler);
  History history;
  for (int i = 0; i < trials; ++i) {
    Rng rng(7, static_cast<std::uint64_t>(i));
    auto point = (*sampler)->Propose(history, i, rng);
    EXPECT_OK(point);
    double loss = rng.Normal();
    for (const double level : *point) loss += level;
    history.Put(Succeeded(i, *std::move(point), loss));
  }
  return history;
}

TEST(Warnings, TrialsOfASearchAreSaidToBeAdaptive) {
  const Space space = LevelSpace(7, 7);
  for (const std::string sampler : {"tpe", "levels-gp"}) {
    EXPECT_THAT(WarningCodesOf(space, TrialsOf(sampler, space, 100)),
                testing::Contains("ADAPTIVE_SAMPLING"))
        << sampler;
  }
}

TEST(Warnings, TrialsSpreadByASequenceAreNot) {
  const Space space = LevelSpace(7, 7);
  EXPECT_THAT(WarningCodesOf(space, TrialsOf("qmc", space, 100)),
              testing::IsEmpty());
}

TEST(Warnings, TrialsThatCouldNotBeTrainedAreCounted) {
  const Space space = LevelSpace(2, 4);
  History history = UniformTrials(space, 60, Noise);
  EXPECT_THAT(WarningCodesOf(space, history), testing::IsEmpty());
  for (int n = 60; n < 63; ++n) {
    Observation diverged;
    diverged.number = n;
    diverged.state = TrialState::kInfeasible;
    diverged.point = {3, 3};
    history.Put(diverged);
  }
  const auto report = Evaluate(space, kCost, history, EvaluateOptions());
  ASSERT_OK(report);
  ASSERT_EQ(report->warnings.size(), 1u);
  EXPECT_EQ(report->warnings[0].code, "TRIALS_DIVERGED");
  EXPECT_THAT(report->warnings[0].sentence,
              testing::HasSubstr("3 trials could not be trained and so have no "
                                 "cost: each counts as bad as the worst"));
  EvaluateOptions options;
  options.evaluator = "levels";
  EXPECT_THAT(Evaluate(space, kCost, history, options)->warnings[0].sentence,
              testing::HasSubstr("what is said is of the other 60"));
}

TEST(Warnings, ALevelNoTrialHasIsNamed) {
  const Space space = LevelSpace(2, 7);
  History all = UniformTrials(space, 100, Noise), some;
  for (const Observation& trial : all.trials()) {
    if (trial.point[1] != 3.0) some.Put(trial);
  }
  EXPECT_THAT(WarningCodesOf(space, some),
              testing::Contains("LEVEL_NEVER_TRIED"));
}

}  // namespace
}  // namespace frostline::importance
