// SPDX-License-Identifier: Apache-2.0
//
// Trials of decoders whose task is to answer prompts, or to choose.
#include <cmath>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "tests/worker/trainer/trial/trial_world.h"

namespace frostline::trainer {
namespace {

using ::testing::HasSubstr;

class AnswersTest : public ::testing::Test {
 protected:
  Fault FaultOf(const TrialMessage& trial) {
    std::vector<std::string> log;
    const auto setup = world_.trial_preparer().Prepare(trial, {}, log);
    EXPECT_FALSE(setup.ok());
    return setup.ok() ? Fault{} : setup.fault();
  }

  TrialWorld world_{TrialWorld::Registry::kDecoder};
};

constexpr char kLong[] =
    R"("epochs": 40, "warmup_share": 0.1, "keep": "last",)";

TEST_F(AnswersTest, LearnsAnAnswerThatNeedsThePosition) {
  const TrialEnd end = world_.Run(world_.AnswersTrial("letters", kLong));
  ASSERT_EQ(end.state, TrialState::kSucceeded) << end.cause;
  EXPECT_GE(end.metrics.at("exact_match"), 0.9);
  EXPECT_NEAR(end.metrics.at("perplexity"), std::exp(end.metrics.at("loss")),
              1e-9);
  EXPECT_EQ(end.metrics.at("answers_cut"), 0.0);
  // Before training about all of 258 tokens were alike.
  EXPECT_LT(end.metrics.at("perplexity"), 2.0);
}

TEST_F(AnswersTest, ReportsWhichAnswersWereExact) {
  TrialMessage trial = world_.AnswersTrial("letters", kLong);
  trial.training.report_example_outcomes = true;
  const TrialEnd end = world_.Run(trial);
  ASSERT_EQ(end.state, TrialState::kSucceeded) << end.cause;
  ASSERT_FALSE(end.evaluations.empty());
  EXPECT_EQ(end.evaluations.front().count, 20);
  EXPECT_EQ(end.evaluations.front().encoding, "PACKED_BITS");
}

TEST_F(AnswersTest, LearnsToChoose) {
  const TrialEnd end = world_.Run(world_.AnswersTrial("picks", kLong));
  ASSERT_EQ(end.state, TrialState::kSucceeded) << end.cause;
  EXPECT_GE(end.metrics.at("accuracy"), 0.9);
  EXPECT_GE(end.metrics.at("accuracy_per_byte"), 0.9);
}

TEST_F(AnswersTest, AFrozenPrefixIsSharedAndChangesNothing) {
  TrialMessage trial =
      world_.AnswersTrial("letters", R"("epochs": 3, "clip_norm": 0,)");
  trial.rates["embeddings"] = trial.rates["layer.0"] = 0.0;
  const TrialEnd alone = world_.Run(trial);
  ASSERT_EQ(alone.state, TrialState::kSucceeded) << alone.cause;
  world_.prefixes =
      PrefixStore::Open(world_.folder() + "/prefix", 1U << 30U).value();
  const TrialEnd filled = world_.Run(trial);
  const TrialEnd found = world_.Run(trial);
  EXPECT_EQ(filled.metrics.at("loss"), alone.metrics.at("loss"));
  EXPECT_EQ(found.metrics.at("loss"), alone.metrics.at("loss"));
  EXPECT_EQ(found.usage->prefix.misses, 0);
  EXPECT_GT(found.usage->flops_shared, 0.0);
  // Computed in each batch it is the same training.
  trial.training.freeze.mode = FreezeMode::kLr0;
  const TrialEnd whole = world_.Run(trial);
  ASSERT_EQ(whole.state, TrialState::kSucceeded) << whole.cause;
  EXPECT_NEAR(whole.metrics.at("loss"), alone.metrics.at("loss"), 1e-4);
}

TEST_F(AnswersTest, APromptBeyondTheContextIsNamed) {
  TrialMessage trial = world_.AnswersTrial("letters", R"("epochs": 1,)");
  trial.training.max_length = 3;
  const Fault fault = FaultOf(trial);
  EXPECT_EQ(fault.kind, FaultKind::kMisuse);
  EXPECT_THAT(fault.cause, HasSubstr("row 1 of the data set has a prompt of 4 "
                                     "tokens"));
}

TEST_F(AnswersTest, AnAnswerThatIsCutOffIsWrongAndCounted) {
  TrialMessage trial = world_.AnswersTrial("letters", kLong);
  trial.training.max_length = 4;  // the letter is told, and no end
  const TrialEnd end = world_.Run(trial);
  ASSERT_EQ(end.state, TrialState::kSucceeded) << end.cause;
  EXPECT_EQ(end.metrics.at("answers_cut"), 20.0);
  EXPECT_EQ(end.metrics.at("exact_match"), 0.0);
  EXPECT_THAT(world_.witness.log, HasSubstr("20 of 20 answers are cut off"));
}

TEST_F(AnswersTest, RefusesWhatIsOfClasses) {
  TrialMessage trial = world_.AnswersTrial("letters", R"("epochs": 1,)");
  trial.training.label_smoothing = 0.1;
  EXPECT_THAT(FaultOf(trial).cause, HasSubstr("label_smoothing"));
}

}  // namespace
}  // namespace frostline::trainer
