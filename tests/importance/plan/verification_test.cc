// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "importance/plan/plan_trials.h"

namespace frostline::importance {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const Objective kAccuracy = {"accuracy", Direction::kMaximize};
constexpr Interval kPredicted = {0.9, 0.88, 0.92, 0.87, 0.93};

// One run for each value, with the seeds 1, 2, …
RivalRuns RivalOf(const std::string& name, const std::vector<double>& values) {
  RivalRuns rival{kPredicted, kPredicted, {name, {}}};
  for (std::size_t i = 0; i < values.size(); ++i) {
    rival.seen.runs.push_back({i + 1, values[i], nullptr});
  }
  return rival;
}

Verification Judge(const std::vector<RivalRuns>& rivals) {
  return JudgeRuns(rivals, 7, {});
}

// The run that has these of 100 rows right.
std::shared_ptr<const statistics::RunScore> RightFrom(std::size_t from,
                                                      std::size_t to) {
  statistics::Outcomes outcomes;
  outcomes.right_or_wrong = true;
  outcomes.marks.resize(100, 0.0f);
  for (std::size_t i = from; i < to; ++i) outcomes.marks[i] = 1.0f;
  return statistics::MakeRunScore("accuracy", outcomes);
}

TEST(Verification, WhatASeedDoesToAllIsNoNoiseBetweenThem) {
  // Seed 2 costs everybody .1; between the rivals nothing moves but .02.
  const Verification judged = Judge({RivalOf("plan", {0.9, 0.8, 0.9}),
                                     RivalOf("best", {0.92, 0.82, 0.92}),
                                     RivalOf("all", {0.901, 0.8, 0.9})});
  EXPECT_NEAR(judged.rivals[1].difference.value, 0.02, 1e-12);
  EXPECT_LT(judged.seed_deviation, 0.001);
  EXPECT_TRUE(judged.rivals[1].exceeds_seeds);
  EXPECT_FALSE(judged.rivals[2].exceeds_seeds);
  // One run of anything, though, may be a tenth off.
  EXPECT_GT(judged.rivals[0].seen.hi95 - judged.rivals[0].seen.lo95, 0.1);
}

TEST(Verification, ATwoWayTableHasTheTextbooksNoise) {
  const Verification judged =
      Judge({RivalOf("plan", {1, 2, 3}), RivalOf("best", {2, 2, 5})});
  // Residuals of 0, .5 and -.5, and the same of the other sign: a sum of
  // squares of 1 over 2 degrees of freedom.
  EXPECT_NEAR(judged.seed_deviation, std::sqrt(0.5), 1e-12);
  EXPECT_NEAR(judged.rivals[1].difference.value, 1.0, 1e-12);
}

TEST(Verification, RunsWithoutAResultAreLeftOut) {
  const double nan = std::nan("");
  const Verification judged =
      Judge({RivalOf("plan", {0.9, nan, 0.8}), RivalOf("best", {0.9, 0.7, 0.9}),
             RivalOf("head", {nan, nan, nan})});
  EXPECT_NEAR(judged.rivals[0].seen.value, 0.85, 1e-12);
  EXPECT_NEAR(judged.rivals[1].difference.value, 0.05, 1e-12);
  EXPECT_TRUE(std::isnan(judged.rivals[2].seen.value));
  EXPECT_TRUE(std::isnan(judged.rivals[2].difference.value));
  EXPECT_FALSE(judged.rivals[2].exceeds_seeds);
}

TEST(Verification, OneSeedSaysNothingOfNoise) {
  const Verification judged =
      Judge({RivalOf("plan", {0.9}), RivalOf("best", {0.2})});
  EXPECT_TRUE(std::isnan(judged.seed_deviation));
  EXPECT_TRUE(std::isnan(judged.rivals[1].seed_noise));
  EXPECT_FALSE(judged.rivals[1].exceeds_seeds);
  EXPECT_THAT(
      VerificationSentence(
          kAccuracy, {RivalOf("plan", {0.9}), RivalOf("best", {0.2})}, judged),
      HasSubstr("the noise of seeds is not known"));
}

TEST(Verification, RowsSayWhatTheEvaluationSetLeavesOpen) {
  // In 100 rows, the rival is right in 10 where the plan is wrong, and wrong in
  // 2 where the plan is right.
  RivalRuns plan = RivalOf("plan", {0.5}), best = RivalOf("best", {0.58});
  plan.seen.runs[0].score = RightFrom(0, 50);
  best.seen.runs[0].score = RightFrom(2, 60);
  const Verification judged = Judge({plan, best});
  EXPECT_EQ(judged.rows, 100);
  // The variance of 10 ones, 2 minus ones and 88 zeros, with half a one and
  // half a minus one besides.
  const double variance = (13.0 - 100.0 * 0.08 * 0.08) / 99.0;
  EXPECT_NEAR(judged.rivals[1].row_noise,
              1.959964 * std::sqrt(variance / 100.0), 1e-6);
  EXPECT_TRUE(judged.rivals[1].exceeds_rows);
  EXPECT_NEAR(judged.rivals[1].p, 0.03857421875, 1e-12);  // McNemar's
  // Whoever runs each once has not shown that the points differ.
  EXPECT_THAT(VerificationSentence(kAccuracy, {plan, best}, judged),
              HasSubstr("the noise of seeds is not known"));
}

TEST(Verification, SeedsAndRowsAreOneTest) {
  // Three seeds agree on a gain, and of each seed's rows few say so.
  RivalRuns plan = RivalOf("plan", {0.5, 0.51, 0.5});
  RivalRuns best = RivalOf("best", {0.52, 0.525, 0.53});
  const double of_seeds = Judge({plan, best}).rivals[1].p;
  for (std::size_t i = 0; i < 3; ++i) {
    plan.seen.runs[i].score = RightFrom(0, 50);
    best.seen.runs[i].score = RightFrom(1, 53);
  }
  const Verification judged = Judge({plan, best});
  EXPECT_LT(of_seeds, 0.05);
  EXPECT_GT(judged.rivals[1].p, of_seeds);
  EXPECT_EQ(judged.rivals[1].adjusted_p, judged.rivals[1].p);
}

TEST(Verification, SaysWhetherAPromiseWasKept) {
  const std::vector<RivalRuns> kept = {RivalOf("plan", {0.9, 0.91, 0.89})};
  EXPECT_THAT(VerificationSentence(kAccuracy, kept, Judge(kept)),
              HasSubstr("scored 0.900 (mean of 3 runs), as predicted (0.880"));
  const std::vector<RivalRuns> broken = {RivalOf("plan", {0.8, 0.81, 0.79}),
                                         RivalOf("best", {0.9, 0.911, 0.889})};
  const std::string said =
      VerificationSentence(kAccuracy, broken, Judge(broken));
  EXPECT_THAT(said, HasSubstr("lower than predicted"));
  EXPECT_THAT(said, HasSubstr("better than it: \"best\" by 0.100"));
  const Objective loss = {"loss", Direction::kMinimize};
  EXPECT_THAT(VerificationSentence(loss, broken, Judge(broken)),
              Not(HasSubstr("better than it")));
  EXPECT_THAT(VerificationSentence(kAccuracy, kept, Judge(kept)),
              StartsWith("the plan scored"));
  EXPECT_EQ(VerificationSentence(kAccuracy, {}, {}),
            "no run of the plan has a result");
}

TEST(Verification, NamesWhatWasAppliedInThePlansPlace) {
  const std::vector<RivalRuns> applied = {RivalOf("trial 14", {0.9, 0.91}),
                                          RivalOf("head only", {0.9, 0.91})};
  EXPECT_THAT(VerificationSentence(kAccuracy, applied, Judge(applied)),
              StartsWith("trial 14 scored 0.905 (mean of 2 runs)"));
  const std::vector<RivalRuns> failed = {RivalOf("trial 14", {std::nan("")})};
  EXPECT_EQ(VerificationSentence(kAccuracy, failed, Judge(failed)),
            "no run of trial 14 has a result");
}

}  // namespace
}  // namespace frostline::importance
