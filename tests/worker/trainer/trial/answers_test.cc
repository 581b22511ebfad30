// SPDX-License-Identifier: Apache-2.0
//
// Trials of decoders whose task is to answer prompts, or to choose.
#include <cmath>
#include <fstream>
#include <iterator>
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

  void Share() {
    world_.prefixes =
        PrefixStore::Open(world_.folder() + "/prefix", 1U << 30U).value();
  }
  std::string Weights() const {
    std::ifstream file(world_.folder() + "/model/model.safetensors",
                       std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
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
  Share();
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

// Two bytes of a number: 40 + 20 texts of 5 tokens, the answer and its end but
// for the last of them, of 32 numbers.
TEST_F(AnswersTest, InBf16AFrozenPrefixIsTheSameBitsInHalfTheBytes) {
  TrialMessage trial = world_.AnswersTrial("letters", R"("epochs": 3,)");
  trial.rates["embeddings"] = trial.rates["layer.0"] = 0.0;
  trial.training.precision = "bf16";
  const TrialEnd alone = world_.Run(trial);
  ASSERT_EQ(alone.state, TrialState::kSucceeded) << alone.cause;
  Share();
  const TrialEnd filled = world_.Run(trial);
  const TrialEnd found = world_.Run(trial);
  EXPECT_EQ(filled.metrics.at("loss"), alone.metrics.at("loss"));
  EXPECT_EQ(found.metrics.at("loss"), alone.metrics.at("loss"));
  EXPECT_EQ(filled.usage->prefix.bytes, (40 + 20) * 5 * 32 * 2);
}

TEST_F(AnswersTest, GoesOnAfterAnyStopToTheSameBits) {
  TrialMessage whole = world_.AnswersTrial(
      "runs", R"("epochs": 2, "accumulation": 2, "extra": {"export": true},)");
  whole.rates["embeddings"] = whole.rates["layer.0"] = 0.0;
  Share();
  const TrialEnd straight = world_.Run(whole);
  ASSERT_EQ(straight.state, TrialState::kSucceeded) << straight.cause;
  const std::string weights = Weights();
  ASSERT_FALSE(weights.empty());
  int stops = 0;
  for (int asked = 2; asked < 40; ++asked) {
    Witness first;
    first.StopAfter(asked, StopReason::kPreempt);
    if (world_.Run(whole, first).state != TrialState::kStopped) break;
    if (first.checkpoint.empty()) continue;  // not a step was taken
    ++stops;
    TrialMessage rest = whole;
    rest.resume_path = world_.folder() + "/" + first.checkpoint;
    rest.resume_step = first.checkpoint_step;
    Witness second;
    const TrialEnd end = world_.Run(rest, second);
    EXPECT_EQ(end.metrics.at("loss"), straight.metrics.at("loss")) << asked;
    EXPECT_EQ(Weights(), weights) << asked;
  }
  EXPECT_GT(stops, 4);
}

// A step's loss is the mean of its answers' tokens, however many texts pass at
// once: here an answer has one to four of them, and its end. A step takes all
// 40 rows, whatever their order.
TEST_F(AnswersTest, AccumulatedItIsTheSameTraining) {
  TrialMessage trial = world_.AnswersTrial("runs", R"("epochs": 4,)");
  trial.training.batch_size = 40;
  const TrialEnd at_once = world_.Run(trial);
  ASSERT_EQ(at_once.state, TrialState::kSucceeded) << at_once.cause;
  trial.training.batch_size = 10;
  trial.training.accumulation = 4;
  const TrialEnd in_parts = world_.Run(trial);
  ASSERT_EQ(in_parts.state, TrialState::kSucceeded) << in_parts.cause;
  EXPECT_NEAR(in_parts.metrics.at("loss"), at_once.metrics.at("loss"), 1e-4);
}

TEST_F(AnswersTest, RecomputedLayersAreTheSameTraining) {
  constexpr char kAdapted[] =
      R"("epochs": 2, "lora": {"rank": 4, "alpha": 8, "modules": ["query",
          "ffn_gate"]}, "extra": {"recompute": "layers"},)";
  TrialMessage trial = world_.AnswersTrial("letters", kAdapted);
  trial.rates["embeddings"] = trial.rates["layer.0"] = 0.0;
  Share();
  const TrialEnd twice = world_.Run(trial);
  ASSERT_EQ(twice.state, TrialState::kSucceeded) << twice.cause;
  trial.training.recompute = false;
  const TrialEnd once = world_.Run(trial);
  EXPECT_EQ(twice.metrics.at("loss"), once.metrics.at("loss"));
  EXPECT_GT(twice.usage->flops_spent, once.usage->flops_spent);
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
