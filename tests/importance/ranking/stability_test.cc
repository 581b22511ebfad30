// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/rng.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "importance/ranking.h"
#include "tests/importance/trials.h"
#include "tests/support/objectives.h"
#include "tests/support/status_matchers.h"

namespace frostline::importance {
namespace {

using ::testing::HasSubstr;

// Returns a report on layer.0, layer.1 and layer.2, in this order; the first
// `told` of them can be told from chance.
Report VerdictReportOf(const std::vector<double>& shares, int told,
                       std::vector<std::vector<double>> draws) {
  Report report;
  report.trials_used = 36;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    ParameterImportance one;
    one.parameter = static_cast<int>(i);
    one.main.value = shares[i];
    one.rank = static_cast<int>(i) + 1;
    one.distinguishable = static_cast<int>(i) < told;
    report.parameters.push_back(one);
  }
  report.main_draws = std::move(draws);
  return report;
}

TEST(ReportVerdict, TrialsThatTellNothingCannotRank) {
  const Report report = VerdictReportOf({0.3, 0.2, 0.1}, 0, {{0.3, 0.2, 0.1}});
  EXPECT_EQ(
      ReportVerdict(LevelSpace(3, 4), report),
      "after 36 trials no parameter clearly matters: none can be told from "
      "chance");
}

TEST(ReportVerdict, NobodyIsFirstWhoIsNotFirstNineTimesInTen) {
  const Report report = VerdictReportOf(
      {0.3, 0.2, 0.1}, 2,
      {{0.3, 0.2, 0.1}, {0.1, 0.2, 0.3}, {0.1, 0.3, 0.2}, {0.3, 0.1, 0.2}});
  EXPECT_THAT(ReportVerdict(LevelSpace(3, 4), report),
              HasSubstr("after 36 trials 2 of 3 parameters clearly matter; "
                        "which is first is not certain yet"));
}

// Equals may be known well, and then nobody waits for a first one.
TEST(ReportVerdict, ARankingThatHasSettledIsNotCalledOpen) {
  const Report report = VerdictReportOf(
      {0.3, 0.3, 0.3}, 3,
      {{0.3, 0.31, 0.29}, {0.29, 0.3, 0.31}, {0.31, 0.29, 0.3}});
  EXPECT_EQ(ReportVerdict(LevelSpace(3, 4), report),
            "after 36 trials 3 of 3 parameters clearly matter; none of them "
            "clearly more than the others");
}

TEST(ReportVerdict, TheOnlyOneThatMattersIsNamed) {
  const Report report = VerdictReportOf(
      {0.3, 0.2, 0.1}, 1, {{0.3, 0.2, 0.1}, {0.1, 0.2, 0.3}, {0.1, 0.3, 0.2}});
  EXPECT_EQ(ReportVerdict(LevelSpace(3, 4), report),
            "after 36 trials only layer.0 clearly matters; its rank is not "
            "certain yet");
}

TEST(ReportVerdict, TwoMayBeFirstTogether) {
  const Report report =
      VerdictReportOf({0.3, 0.2, 0.1}, 2, {{0.3, 0.2, 0.1}, {0.2, 0.3, 0.1}});
  EXPECT_EQ(ReportVerdict(LevelSpace(3, 4), report),
            "layer.0 and layer.1 matter most, the order of the others is open");
}

TEST(ReportVerdict, SaysThatItHasSettledOnlyWhereItHas) {
  const Space space = LevelSpace(3, 4);
  EXPECT_EQ(
      ReportVerdict(space, VerdictReportOf({0.5, 0.2, 0.1}, 3,
                                           {{0.5, 0.2, 0.1}, {0.5, 0.2, 0.1}})),
      "layer.0 matters most, and the ranking has settled");
  EXPECT_EQ(
      ReportVerdict(space, VerdictReportOf({0.5, 0.2, 0.1}, 3,
                                           {{0.5, 0.2, 0.1}, {0.5, 0.1, 0.2}})),
      "layer.0 matters most, the order of the others is open");
}

TEST(ReportVerdict, NobodyLeadsByTwoTrials) {
  const Space space = LevelSpace(3, 4);
  Report report = VerdictReportOf({0.5, 0.2, 0.1}, 3, {{0.5, 0.2, 0.1}});
  report.lead_rests_on = {{7, 19}};
  EXPECT_THAT(ReportVerdict(space, report),
              HasSubstr("which is first is not certain yet"));
  EXPECT_EQ(JudgeReport(space, report).sentence,
            "not settled: the first rank rests on trials 7 and 19");
  ASSERT_TRUE(WarnOfFragileLead(space, report).has_value());
  EXPECT_EQ(WarnOfFragileLead(space, report)->sentence,
            "that layer.0 matters most rests on trials 7 and 19: `plan --ask 2 "
            "--enqueue` runs such trials again");
  report.lead_rests_on = {{}};
  EXPECT_FALSE(WarnOfFragileLead(space, report).has_value());
}

TEST(ReportVerdict, WithoutIntervalsNothingIsSure) {
  EXPECT_THAT(
      ReportVerdict(LevelSpace(3, 4), VerdictReportOf({0.5, 0.2, 0.1}, 3, {})),
      HasSubstr("has not been computed"));
}

EvaluateOptions Quick() {
  EvaluateOptions options;
  options.evaluator = "levels";
  return options;
}

// Slopes of three parameters of five levels: shares .55, .31 and .14.
double Graded(const Point& point, Rng& rng) {
  return 4.0 * point[0] + 3.0 * point[1] + 2.0 * point[2] + 1.5 * rng.Normal();
}

Stability StabilityOf(const Space& space, const History& history,
                      const EvaluateOptions& options, int points) {
  return *EvaluateStability(space, kLoss, history, options, points);
}

TEST(Stability, BeginningsAreEvenlySpreadAndTheLastHasAllTrials) {
  const Space space = LevelSpace(3, 5);
  const History history = UniformTrials(space, 108, Graded);
  const Stability stability = StabilityOf(space, history, Quick(), 5);
  ASSERT_EQ(stability.points.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(stability.points[i].trials,
              static_cast<std::int64_t>(8 + 25 * i));
    EXPECT_EQ(stability.points[i].parameters.size(), 3u);
  }
  EXPECT_EQ(stability.points.back().tau_to_final, 1.0);
  EXPECT_EQ(StabilityOf(space, history, Quick(), 0).points.size(), 20u);
}

TEST(Stability, ABeginningIsWhatTheReportSaidThen) {
  const Space space = LevelSpace(3, 5);
  History early;
  const History history = UniformTrials(space, 60, Graded);
  for (int i = 34; i-- > 0;) {
    early.Put(history.trials()[static_cast<std::size_t>(i)]);
  }
  const Stability stability = StabilityOf(space, history, Quick(), 3);
  ASSERT_OK_AND_ASSIGN(const Report then,
                       Evaluate(space, kLoss, early, Quick()));
  EXPECT_EQ(stability.points[1].trials, 34);
  EXPECT_EQ(MainShares(stability.points[1].parameters),
            MainShares(then.parameters));
}

double WidthOf(const Interval& share) { return share.hi80 - share.lo80; }

TEST(Stability, BeginningsHaveIntervalsThatNarrowAsTrialsCome) {
  const Space space = LevelSpace(3, 5);
  const History history = UniformTrials(space, 400, Graded);
  for (const char* const evaluator : {"levels", "fanova"}) {
    EvaluateOptions options;
    options.evaluator = evaluator;
    options.trees = 16;
    const std::vector<StabilityPoint> points =
        StabilityOf(space, history, options, 5).points;
    ASSERT_EQ(points.size(), 5u);
    double before = 1.0;
    for (const std::size_t k : {std::size_t{1}, std::size_t{3}}) {
      double widths = 0.0;
      for (const ParameterImportance& one : points[k].parameters) {
        EXPECT_LT(one.main.lo80, one.main.value) << evaluator;
        EXPECT_GT(one.main.hi80, one.main.value) << evaluator;
        EXPECT_LE(one.main.lo95, one.main.lo80);
        EXPECT_GE(one.main.hi95, one.main.hi80);
        widths += WidthOf(one.main);
      }
      EXPECT_LT(widths, before) << evaluator;
      before = widths;
    }
  }
}

TEST(Stability, CheapIntervalsChangeNoShareAndAreNearThoseOfAReport) {
  const Space space = LevelSpace(3, 5);
  const History history = UniformTrials(space, 200, Graded);
  EvaluateOptions options;
  options.trees = 16;
  ASSERT_OK_AND_ASSIGN(const Report whole,
                       Evaluate(space, kLoss, history, options));
  options.bootstraps = 0;
  ASSERT_OK_AND_ASSIGN(const Report without,
                       Evaluate(space, kLoss, history, options));
  options.cheap_intervals = true;
  ASSERT_OK_AND_ASSIGN(const Report cheap,
                       Evaluate(space, kLoss, history, options));
  EXPECT_EQ(MainShares(cheap.parameters), MainShares(without.parameters));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(WidthOf(without.parameters[i].main), 0.0);
    EXPECT_NEAR(cheap.parameters[i].main.lo80, whole.parameters[i].main.lo80,
                0.05);
    EXPECT_NEAR(cheap.parameters[i].main.hi80, whole.parameters[i].main.hi80,
                0.05);
  }
  // One that would have to grow its trees anew says none.
  options.evaluator = "fanova-optuna";
  ASSERT_OK_AND_ASSIGN(const Report grown,
                       Evaluate(space, kLoss, history, options));
  for (const ParameterImportance& one : grown.parameters) {
    EXPECT_EQ(WidthOf(one.main), 0.0);
  }
}

TEST(Stability, ClearEffectsSettle) {
  const Space space = LevelSpace(3, 5);
  const Stability stability =
      StabilityOf(space, UniformTrials(space, 300, Graded), Quick(), 10);
  const StabilityVerdict& verdict = stability.verdict;
  EXPECT_EQ(verdict.state, StabilityState::kSettled);
  EXPECT_EQ(verdict.settled_after, 300);
  EXPECT_EQ(verdict.more_trials, 0);
  EXPECT_EQ(verdict.sentence, "ranking settled after 300 trials");
  EXPECT_GT(verdict.half_tau.value, 0.9);
}

TEST(Stability, EqualParametersDoNotKeepAStudyUnsettled) {
  const Space space = LevelSpace(3, 5);
  const History history =
      UniformTrials(space, 600, [](const Point& p, Rng& rng) {
        return p[0] + p[1] + p[2] + 0.3 * rng.Normal();
      });
  EXPECT_EQ(StabilityOf(space, history, Quick(), 10).verdict.state,
            StabilityState::kSettled);
}

TEST(Stability, NoiseIsNeverSettled) {
  const Space space = LevelSpace(4, 5);
  const History history = UniformTrials(
      space, 100, [](const Point&, Rng& rng) { return rng.Normal(); });
  const StabilityVerdict verdict =
      StabilityOf(space, history, Quick(), 5).verdict;
  EXPECT_EQ(verdict.state, StabilityState::kNotSettled);
  EXPECT_EQ(verdict.settled_after, 0);
  EXPECT_LT(verdict.half_tau.lo80, 0.5);
}

TEST(Stability, TooFewTrialsAreAVerdict) {
  const Space space = LevelSpace(2, 3);
  for (const int trials : {0, 1, 2, 7}) {
    const History history = UniformTrials(
        space, trials,
        [](const Point& p, Rng& rng) { return p[0] + 0.1 * rng.Normal(); });
    const Stability stability = StabilityOf(space, history, Quick(), 0);
    EXPECT_EQ(stability.verdict.state, StabilityState::kTooFewTrials);
    EXPECT_EQ(stability.verdict.more_trials, 8 - trials);
    EXPECT_EQ(stability.verdict.sentence,
              "too few trials: " + std::to_string(trials) +
                  " can be used, at least 8 are needed");
    EXPECT_TRUE(std::isnan(stability.verdict.half_tau.value));
    EXPECT_TRUE(stability.points.empty());
  }
}

TEST(Stability, WhatCannotBeAskedIsAnError) {
  const Space space = LevelSpace(2, 3);
  const History flat =
      UniformTrials(space, 40, [](const Point&, Rng&) { return 1.0; });
  const auto with = [&](const EvaluateOptions& options, int points) {
    return EvaluateStability(space, kLoss, flat, options, points);
  };
  EXPECT_THAT(with(Quick(), -1), FailsAt(ErrorId::kRequestInvalid, "points"));
  EXPECT_THAT(with(Quick(), kMaxStabilityPoints + 1),
              FailsAt(ErrorId::kRequestInvalid, "points"));
  EXPECT_THAT(with(Quick(), 0), FailsWith(ErrorId::kTargetConstant));
  EvaluateOptions options;
  options.evaluator = "shap";
  EXPECT_THAT(with(options, 0), FailsWith(ErrorId::kEvaluatorUnknown));
}

// The first 20 trials all have the same value.
TEST(Stability, ABeginningThatSaysNothingHasNoPoint) {
  const Space space = LevelSpace(2, 3);
  const History slow = UniformTrials(space, 40, [](const Point& p, Rng& rng) {
    return p[0] + 0.1 * rng.Normal();
  });
  History history;
  for (Observation trial : slow.trials()) {
    if (trial.number < 20) trial.values[0] = 0.5;
    history.Put(trial);
  }
  ASSERT_OK_AND_ASSIGN(const Stability stability,
                       EvaluateStability(space, kLoss, history, Quick(), 5));
  ASSERT_EQ(stability.points.size(), 3u);
  EXPECT_EQ(stability.points.front().trials, 24);
}

TEST(Stability, IsTheSameForAnyNumberOfThreads) {
  const Space space = LevelSpace(3, 5);
  const History history = UniformTrials(space, 60, Graded);
  EvaluateOptions one = Quick(), many = Quick();
  one.threads = 1;
  many.threads = 5;
  const Stability a = StabilityOf(space, history, one, 8);
  const Stability b = StabilityOf(space, history, many, 8);
  EXPECT_EQ(a.verdict.sentence, b.verdict.sentence);
  EXPECT_EQ(a.verdict.half_tau.lo95, b.verdict.half_tau.lo95);
  for (std::size_t i = 0; i < a.points.size(); ++i) {
    EXPECT_EQ(MainShares(a.points[i].parameters),
              MainShares(b.points[i].parameters));
  }
}

TEST(PartCounts, AreFewerWhereAFitCostsMuch) {
  const auto counts = [](std::size_t trials, std::size_t parameters) {
    const PartCounts found =
        BoundParts(trials, parameters, {.points = 20, .trees = 64});
    return std::vector<int>{found.points, found.trees};
  };
  EXPECT_EQ(counts(1000, 32), (std::vector<int>{20, 64}));
  EXPECT_EQ(counts(10000, 100), (std::vector<int>{20, 64}));
  EXPECT_EQ(counts(10000, 200), (std::vector<int>{17, 40}));
  EXPECT_EQ(counts(10000, 500), (std::vector<int>{8, 16}));
  EXPECT_EQ(counts(1000000, 10000), (std::vector<int>{5, 16}));
  const PartCounts few = BoundParts(1000000, 10000, {.points = 2, .trees = 1});
  EXPECT_EQ(few.points, 2) << "never more than is wanted";
  EXPECT_EQ(few.trees, 1);
}

RankingEvidence Known() {
  RankingEvidence evidence;
  evidence.trials = 100;
  evidence.values = {0.6, 0.4};
  evidence.any_distinguishable = true;
  return evidence;
}

TEST(StabilityVerdict, ForetellsByTheRootOfTheTrials) {
  RankingEvidence evidence = Known();
  // Passed by a fifth when .6 - x < .8 (.4 + x), x being over .1556; half as
  // far is .15, so that a little less than four times the trials will do.
  evidence.draws.assign(10, {0.3, 0.7});
  const StabilityVerdict verdict = JudgeRanking(evidence);
  EXPECT_EQ(verdict.state, StabilityState::kNotSettled);
  EXPECT_EQ(verdict.more_trials, 280);  // 100 (.3 / .1556)² - 100 = 271.9
  EXPECT_EQ(verdict.sentence, "not settled: about 280 more trials");
}

TEST(StabilityVerdict, TrialsThatEffectsUseUpDoNotCount) {
  RankingEvidence evidence = Known();
  evidence.draws.assign(10, {0.3, 0.7});
  evidence.effects = 30;
  // 40 trials are left in two halves: 40 times 2.719.
  EXPECT_EQ(JudgeRanking(evidence).more_trials, 110);
  evidence.effects = 80;
  EXPECT_EQ(JudgeRanking(evidence).more_trials, 30);  // 10 times 2.719
}

TEST(StabilityVerdict, OneDrawInTwentyMayDisagree) {
  RankingEvidence evidence = Known();
  evidence.draws.assign(20, {0.6, 0.4});
  evidence.draws[0] = {0.1, 0.9};
  EXPECT_EQ(JudgeRanking(evidence).state, StabilityState::kSettled);
  evidence.draws[1] = {0.1, 0.9};
  EXPECT_EQ(JudgeRanking(evidence).state, StabilityState::kNotSettled);
}

// Halves lie √2 times as far from the whole as draws do.
TEST(StabilityVerdict, TwoHalvesAgreeLessThanDraws) {
  RankingEvidence evidence = Known();
  evidence.draws.assign(10, {0.6, 0.4});
  EXPECT_EQ(JudgeRanking(evidence).half_tau.value, 1.0);
  evidence.draws[0] = {0.52, 0.48};  // half as many trials turn it round
  EXPECT_LT(JudgeRanking(evidence).half_tau.value, 1.0);
}

TEST(StabilityVerdict, NobodyForetellsWhatIsTooFar) {
  RankingEvidence evidence = Known();
  evidence.draws.assign(10, {-9.0, 9.0});
  EXPECT_EQ(JudgeRanking(evidence).more_trials, 0);
  EXPECT_EQ(JudgeRanking(evidence).sentence,
            "not settled: far more than 100 trials are needed");
  evidence.any_distinguishable = false;
  EXPECT_EQ(JudgeRanking(evidence).sentence,
            "not settled: after 100 trials no parameter can be told from "
            "chance");
}

// In 30 studies of a truth with two near neighbours, whatever the verdict calls
// settled has no parameter above one that clearly has more to say.
TEST(Stability, WhatIsSettledIsRight) {
  const Space space = LevelSpace(4, 4);
  const std::vector<double> truth = {9 / 19.5, 6.25 / 19.5, 4 / 19.5,
                                     0.25 / 19.5};
  int settled = 0, right = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    for (const int trials : {40, 80, 160}) {
      const History history = UniformTrials(
          space, trials,
          [](const Point& p, Rng& rng) {
            return 3 * p[0] + 2.5 * p[1] + 2 * p[2] + 0.5 * p[3] +
                   2.0 * rng.Normal();
          },
          seed);
      const Stability stability = StabilityOf(space, history, Quick(), 6);
      if (stability.verdict.state != StabilityState::kSettled) continue;
      ++settled;
      right += !IsOrderChanged(MainShares(stability.points.back().parameters),
                               truth);
    }
  }
  EXPECT_GE(settled, 8);
  EXPECT_GE(right * 10, settled * 9);
}

Space SpaceOf(const std::vector<std::string>& names) {
  std::vector<Parameter> parameters;
  for (const std::string& name : names) {
    parameters.push_back({name, Levels{{0.0, 1e-5}}, {}});
  }
  return Space(parameters, {}, std::nullopt);
}

Report ReportOf(const std::vector<double>& shares) {
  Report report;
  for (const double share : shares) {
    ParameterImportance one;
    one.parameter = static_cast<int>(report.parameters.size());
    one.main.value = share;
    report.parameters.push_back(one);
  }
  return report;
}

// Draws around the values, in all of which the noise is the same for a seed.
Report DrawnReport(const std::vector<double>& shares, double deviation,
                   std::uint64_t seed) {
  Report report = ReportOf(shares);
  Rng rng(seed);
  for (int k = 0; k < 500; ++k) {
    std::vector<double> draw = shares;
    for (double& share : draw) share += deviation * rng.Normal();
    report.main_draws.push_back(draw);
  }
  return report;
}

TEST(Compare, TakesSharesAmongTheSharedParametersByName) {
  const Space first = SpaceOf({"a", "b", "own"});
  const Space second = SpaceOf({"other", "b", "a"});
  ASSERT_OK_AND_ASSIGN(const Comparison comparison,
                       CompareReports({first, ReportOf({0.3, 0.1, 0.5})},
                                      {second, ReportOf({0.6, 0.3, 0.1})}));
  ASSERT_EQ(comparison.shifts.size(), 2u);
  EXPECT_EQ(comparison.shifts[0].parameter, "a");
  EXPECT_DOUBLE_EQ(comparison.shifts[0].first.value, 0.75);
  EXPECT_DOUBLE_EQ(comparison.shifts[0].second.value, 0.25);
  EXPECT_DOUBLE_EQ(comparison.rank_agreement.value, -1.0);
  EXPECT_EQ(comparison.only_first, std::vector<std::string>{"own"});
  EXPECT_EQ(comparison.only_second, std::vector<std::string>{"other"});
}

TEST(Compare, FewerThanTwoSharedParametersAreNoRanking) {
  const Space first = SpaceOf({"a", "b"}), second = SpaceOf({"b", "c"});
  const Report report = ReportOf({0.5, 0.5});
  EXPECT_THAT(CompareReports({first, report}, {second, report}),
              FailsWith(ErrorId::kRequestInvalid));
}

TEST(Compare, WithoutDrawsNothingIsToldApart) {
  const Space space = SpaceOf({"a", "b"});
  const Report drawn = DrawnReport({0.1, 0.9}, 0.01, 1);
  ASSERT_OK_AND_ASSIGN(
      const Comparison comparison,
      CompareReports({space, ReportOf({0.9, 0.1})}, {space, drawn}));
  const Interval& tau = comparison.rank_agreement;
  EXPECT_EQ(tau.lo95, tau.value);
  EXPECT_EQ(tau.hi95, tau.value);
  EXPECT_EQ(comparison.shifts[0].first.hi95, 0.9);
  EXPECT_FALSE(comparison.shifts[0].distinguishable);
  EXPECT_EQ(comparison.sentence,
            "2 shared parameters, ranked with tau -1.00; without intervals "
            "nothing can be told apart");
}

TEST(Compare, AShiftThatIsClearOfChanceIsNamed) {
  const Space space = SpaceOf({"a", "b", "c"});
  const Report one = DrawnReport({0.5, 0.3, 0.2}, 0.01, 1);
  const Report two = DrawnReport({0.4, 0.3, 0.3}, 0.01, 2);
  ASSERT_OK_AND_ASSIGN(const Comparison comparison,
                       CompareReports({space, one}, {space, two}));
  EXPECT_TRUE(comparison.shifts[0].distinguishable);
  EXPECT_FALSE(comparison.shifts[1].distinguishable);
  EXPECT_TRUE(comparison.shifts[2].distinguishable);
  EXPECT_NE(comparison.sentence.find("1 of 3 shared parameters"),
            std::string::npos);
  EXPECT_NE(comparison.sentence.find(
                "; a matters more in the first; c matters more in the second"),
            std::string::npos);
}

// Both reports have the same noise, draw for draw: it must not cancel.
TEST(Compare, DrawsOfOneSeedDoNotErrTogether) {
  const Space space = SpaceOf({"a", "b", "c"});
  const Report report = DrawnReport({0.36, 0.33, 0.31}, 0.1, 1);
  ASSERT_OK_AND_ASSIGN(const Comparison comparison,
                       CompareReports({space, report}, {space, report}));
  EXPECT_EQ(comparison.rank_agreement.value, 1.0);
  EXPECT_LT(comparison.rank_agreement.lo95, 0.0);
}

// Reports of two studies of one truth: draws are around what each has seen.
TEST(Compare, ChanceIsSeldomTakenForAShift) {
  const Space space = SpaceOf({"a", "b", "c", "d", "e"});
  int alarms = 0;
  Rng rng(5);
  for (std::uint64_t run = 0; run < 200; ++run) {
    std::vector<double> seen[2];
    for (std::vector<double>& shares : seen) {
      shares = {0.3, 0.25, 0.2, 0.15, 0.1};
      for (double& share : shares) share += 0.01 * rng.Normal();
    }
    const Report one = DrawnReport(seen[0], 0.01, 2 * run);
    const Report two = DrawnReport(seen[1], 0.01, 2 * run + 1);
    ASSERT_OK_AND_ASSIGN(const Comparison comparison,
                         CompareReports({space, one}, {space, two}));
    for (const ParameterShift& shift : comparison.shifts) {
      if (shift.distinguishable) {
        ++alarms;
        break;
      }
    }
  }
  EXPECT_LE(alarms, 20);  // of 200; 10 are expected, at most
}

TEST(KendallTau, CountsPairsInOrderLessPairsOutOfOrder) {
  EXPECT_DOUBLE_EQ(KendallTau({1, 2, 3, 4}, {10, 20, 30, 40}), 1.0);
  EXPECT_DOUBLE_EQ(KendallTau({1, 2, 3, 4}, {4, 3, 2, 1}), -1.0);
  EXPECT_DOUBLE_EQ(KendallTau({1, 2, 3, 4}, {1, 3, 2, 4}), 4.0 / 6.0);
}

TEST(KendallTau, LeavesTiesOutOfEitherSidesPairs) {
  // Five pairs in order, one is tied in a alone.
  EXPECT_DOUBLE_EQ(KendallTau({1, 1, 2, 3}, {1, 2, 3, 4}),
                   5.0 / std::sqrt(5.0 * 6.0));
  EXPECT_DOUBLE_EQ(KendallTau({1, 1, 2}, {5, 5, 9}), 1.0);
  EXPECT_DOUBLE_EQ(KendallTau({1, 1, 1}, {1, 2, 3}), 0.0);
  EXPECT_DOUBLE_EQ(KendallTau({1, 1, 1}, {2, 2, 2}), 1.0);
}

TEST(IsOrderChanged, OnlyWhereTheLowerOneHasClearlyMore) {
  const std::vector<double> ranked = {0.5, 0.3, 0.2};
  EXPECT_FALSE(IsOrderChanged(ranked, {0.5, 0.3, 0.2}));
  EXPECT_FALSE(IsOrderChanged(ranked, {0.37, 0.43, 0.2}));  // by a seventh
  EXPECT_TRUE(IsOrderChanged(ranked, {0.35, 0.45, 0.2}));   // by over a fifth
  EXPECT_TRUE(IsOrderChanged(ranked, {0.3, 0.3, 0.4}));
  EXPECT_FALSE(IsOrderChanged({0.9, 0.02, 0.01}, {0.9, 0.001, 0.01}));
}

// Neither neighbour is passed clearly, but the first is by the last.
TEST(IsOrderChanged, ComparesNotNeighboursAlone) {
  EXPECT_TRUE(IsOrderChanged({0.3, 0.2, 0.1}, {0.3, 0.34, 0.4}));
}

TEST(ChanceOfChange, FallsAsDrawsNarrow) {
  const std::vector<double> values = {0.6, 0.4};
  const std::vector<std::vector<double>> draws = {{0.6, 0.4}, {0.3, 0.7}};
  EXPECT_EQ(ChanceOfChange(values, draws, 1.0), 0.5);
  EXPECT_EQ(ChanceOfChange(values, draws, 0.5), 0.0);
  EXPECT_EQ(ChanceOfChange(values, {}, 1.0), 0.0);
}

}  // namespace
}  // namespace frostline::importance
