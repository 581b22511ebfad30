// SPDX-License-Identifier: Apache-2.0
//
// Whatever it is handed, an evaluator answers with an error that says why, or
// with a report of which every number can be believed to be a number.
#include <cmath>
#include <limits>
#include <string>

#include "importance/evaluator.h"
#include "tests/importance/trials.h"
#include "tests/support/objectives.h"
#include "tests/support/status_matchers.h"

namespace frostline::importance {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

bool IsShare(const Interval& i) {
  return 0.0 <= i.lo95 && i.lo95 <= i.lo80 && i.lo80 <= i.value &&
         i.value <= i.hi80 && i.hi80 <= i.hi95 && i.hi95 <= 1.0;
}

// Totals and directions may be unknown, but nothing is half known.
bool IsUnknownOrShare(const Interval& i) {
  const bool is_unknown = std::isnan(i.value) && std::isnan(i.lo80) &&
                          std::isnan(i.hi80) && std::isnan(i.lo95) &&
                          std::isnan(i.hi95);
  return is_unknown || IsShare(i);
}

void ExpectSound(const Report& report, std::size_t parameters) {
  EXPECT_GE(report.trials_used, kMinTrials);
  ASSERT_EQ(report.parameters.size(), parameters);
  for (const ParameterImportance& one : report.parameters) {
    EXPECT_TRUE(IsShare(one.main)) << one.main.value;
    EXPECT_TRUE(IsUnknownOrShare(one.total)) << one.total.value;
    EXPECT_TRUE(std::isnan(one.direction) || std::abs(one.direction) <= 1.0);
    EXPECT_TRUE(one.top3_probability >= 0.0 && one.top3_probability <= 1.0);
    EXPECT_TRUE(one.rank >= 1 && one.rank <= static_cast<int>(parameters));
  }
  for (const PairImportance& pair : report.pairs) {
    EXPECT_TRUE(IsShare(pair.share)) << pair.share.value;
  }
  EXPECT_TRUE(IsShare(report.unexplained)) << report.unexplained.value;
  EXPECT_TRUE(std::isnan(report.out_of_bag_r2) || report.out_of_bag_r2 <= 1.0);
}

class BadInput : public testing::TestWithParam<std::string> {
 protected:
  absl::StatusOr<Report> Explain(const Space& space, const History& history) {
    EvaluateOptions options;
    options.evaluator = GetParam();
    options.trees = 8;
    options.bootstraps = 4;
    return Evaluate(space, kLoss, history, options);
  }

  void ExpectSoundReport(const Space& space, const History& history) {
    ASSERT_OK_AND_ASSIGN(const Report report, Explain(space, history));
    ExpectSound(report, space.parameters().size());
  }

  // Beside an ordinary one, over which the target changes as well.
  void ExpectSoundWith(const Domain& odd, int trials = 60) {
    const Space space({{"odd", odd, {}}, {"x", FloatRange{0, 1, 0, false}, {}}},
                      {}, std::nullopt);
    ExpectSoundReport(
        space, UniformTrials(space, trials, [](const Point& p, Rng& rng) {
          return std::cos(7.0 * p[0]) + p[1] + 0.1 * rng.Normal();
        }));
  }
};

double BadSlope(const Point& point, Rng& rng) {
  return point[0] + 0.1 * rng.Normal();
}

TEST_P(BadInput, TooFewTrialsAreSaidToBeTooFew) {
  const Space space = LevelSpace(3, 7);
  for (const int trials : {0, 1, 2, kMinTrials - 1}) {
    EXPECT_THAT(Explain(space, UniformTrials(space, trials, BadSlope)),
                FailsWith(ErrorId::kTrialsTooFew))
        << trials;
  }
  ExpectSoundReport(space, UniformTrials(space, kMinTrials, BadSlope));
}

TEST_P(BadInput, AConstantTargetHasNothingToExplain) {
  const Space space = LevelSpace(3, 7);
  for (const double value : {0.0, -0.25, 1e308}) {
    const History history =
        UniformTrials(space, 30, [value](const Point&, Rng&) { return value; });
    EXPECT_THAT(Explain(space, history), FailsWith(ErrorId::kTargetConstant));
  }
}

TEST_P(BadInput, TargetsThatAreNoNumbersAreLeftOut) {
  const Space space = LevelSpace(3, 7);
  History history = UniformTrials(space, 40, BadSlope);
  const Point point = {1, 2, 3};
  history.Put(Succeeded(40, point, kNaN));
  history.Put(Succeeded(41, point, kInfinity));
  history.Put(Succeeded(42, point, -kInfinity));
  ASSERT_OK_AND_ASSIGN(const Report report, Explain(space, history));
  ExpectSound(report, 3);
  EXPECT_EQ(report.trials_used, 40);
  EXPECT_EQ(report.trials_left_out, 3);
}

TEST_P(BadInput, NoFiniteTargetAtAllIsTooFewTrials) {
  const Space space = LevelSpace(3, 7);
  EXPECT_THAT(
      Explain(space, UniformTrials(space, 40,
                                   [](const Point&, Rng&) { return kNaN; })),
      FailsWith(ErrorId::kTrialsTooFew));
}

TEST_P(BadInput, ALevelThatWasNeverTried) {
  const Space space = LevelSpace(3, 7);
  const History all = UniformTrials(space, 80, BadSlope);
  History history;
  for (const Observation& trial : all.trials()) {
    if (trial.point[0] != 4.0) history.Put(trial);
  }
  ExpectSoundReport(space, history);
}

TEST_P(BadInput, OneLevelAloneWasTried) {
  const Space space = LevelSpace(2, 7);
  History history;
  Rng rng(3);
  for (int i = 0; i < 40; ++i) {
    const Point point = {2.0, static_cast<double>(rng.Below(7))};
    history.Put(Succeeded(i, point, point[1]));
  }
  ASSERT_OK_AND_ASSIGN(const Report report, Explain(space, history));
  ExpectSound(report, 2);
  // Optuna's ped-anova compares four trials with forty, and sees that much; the
  // default leaves open what the other levels would have done.
  const double most = GetParam() == "ped-anova" ? 0.01 : 0.0;
  const double open = GetParam() == "fanova" ? 0.1 : most;
  EXPECT_LE(report.parameters[0].main.value, open);
  EXPECT_FALSE(report.parameters[0].distinguishable);
}

TEST_P(BadInput, AParameterThatSomeTrialsDoNotHave) {
  Condition deep;
  deep.parent = 0;
  deep.min = 2.0;
  deep.max = 2.0;
  const Space space({{"depth", IntRange{0, 2, 1, false}, {}},
                     {"rate", LogUniform{1e-6, 1e-2, true}, deep},
                     {"kind", Categorical{{"a", "b"}}, deep}},
                    {}, std::nullopt);
  ExpectSoundReport(
      space, UniformTrials(space, 60, [](const Point& p, Rng& rng) {
        return p[0] + (IsAbsent(p[2]) ? 0.0 : p[2]) + 0.1 * rng.Normal();
      }));
}

TEST_P(BadInput, AllTrialsAtOnePointExplainNothing) {
  const Space space = LevelSpace(3, 7);
  History history;
  Rng rng(3);
  for (int i = 0; i < 40; ++i) {
    history.Put(Succeeded(i, {1, 2, 3}, rng.Normal()));
  }
  const auto report = Explain(space, history);
  if (!report.ok()) {
    EXPECT_TRUE(DetailOf(report.status()).has_value());
    return;
  }
  ExpectSound(*report, 3);
  for (const ParameterImportance& one : report->parameters) {
    EXPECT_EQ(one.main.value, 0.0);
    EXPECT_FALSE(one.distinguishable);
  }
}

TEST_P(BadInput, HugeAndTinyTargets) {
  const Space space = LevelSpace(3, 7);
  for (const double scale : {1e308, 1e-308, 5e-324 * 64.0}) {
    ExpectSoundReport(
        space, UniformTrials(space, 60, [scale](const Point& p, Rng& rng) {
          return scale * (p[0] / 6.0 + (rng.Uniform() < 0.5 ? -0.7 : 0.2));
        }));
  }
  // One trial that is off by everything there is.
  History history = UniformTrials(space, 60, BadSlope);
  history.Put(Succeeded(60, {0, 0, 0}, 1.7e308));
  history.Put(Succeeded(61, {0, 0, 1}, -1.7e308));
  ExpectSoundReport(space, history);
}

TEST_P(BadInput, AThousandChoices) {
  Categorical choices;
  for (int i = 0; i < kMaxChoices; ++i) {
    choices.choices.push_back(std::to_string(i));
  }
  ExpectSoundWith(choices);
}

TEST_P(BadInput, ARangeOfAThousandMillionNumbers) {
  ExpectSoundWith(IntRange{0, 1'000'000'000, 1, false});
  ExpectSoundWith(IntRange{1, 1'000'000'000, 1, true});
  ExpectSoundWith(FloatRange{-8e307, 8e307, 0, false});
}

TEST_P(BadInput, RatesOverMoreDecadesThanTheRatioOfTwoNumbers) {
  ExpectSoundWith(LogUniform{1e-300, 1.0, false});
  ExpectSoundWith(LogUniform{1e-300, 1e300, true});
  ExpectSoundWith(FloatRange{1e-307, 1e307, 0, true});
}

TEST_P(BadInput, OneValueIsNoChoice) {
  ExpectSoundWith(Levels{{1e-5}});
  ExpectSoundWith(Categorical{{"only"}});
  ExpectSoundWith(IntRange{3, 3, 1, false});
}

TEST_P(BadInput, ASpaceWithoutParameters) {
  const Space space({}, {}, std::nullopt);
  History history;
  Rng rng(3);
  for (int i = 0; i < 20; ++i) history.Put(Succeeded(i, {}, rng.Normal()));
  const auto report = Explain(space, history);
  if (report.ok()) {
    ExpectSound(*report, 0);
  } else {
    EXPECT_TRUE(DetailOf(report.status()).has_value());
  }
}

TEST_P(BadInput, FarMoreParametersThanTrials) {
  const Space space = LevelSpace(300, 3);
  ExpectSoundReport(space, UniformTrials(space, 12, BadSlope));
}

INSTANTIATE_TEST_SUITE_P(Evaluators, BadInput,
                         testing::ValuesIn(EvaluatorNames()),
                         [](const auto& name) {
                           std::string letters;
                           for (const char c : name.param) {
                             if (c != '-' && c != '_') letters += c;
                           }
                           return letters;
                         });

}  // namespace
}  // namespace frostline::importance
