// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/fine_tuning.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "gmock/gmock.h"
#include "tests/worker/trainer/trial/trial_world.h"

namespace frostline::trainer {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;

std::vector<std::int64_t> StepsOf(const Witness& witness) {
  std::vector<std::int64_t> steps;
  for (const Told& told : witness.reports) steps.push_back(told.step);
  return steps;
}

std::string BytesOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// What depends on the clock is left out.
Metrics Scored(TrialEnd end) {
  end.metrics.erase("train_seconds");
  end.metrics.erase("peak_memory_mib");
  return end.metrics;
}

TEST(FineTuning, LearnsAndReportsEachEpoch) {
  TrialWorld world;
  const TrialEnd end = world.Run(world.Trial(R"("epochs": 8,)"));
  ASSERT_EQ(end.state, TrialState::kSucceeded) << end.cause;
  EXPECT_THAT(StepsOf(world.witness), ElementsAre(3, 6, 9, 12, 15, 18, 21, 24));
  EXPECT_LT(world.witness.reports.back().metrics.at("train_loss"),
            0.8 * world.witness.reports.front().metrics.at("train_loss"));
  EXPECT_THAT(end.metrics, Contains(Key("accuracy")));
  EXPECT_EQ(end.usage->steps, 24);
  EXPECT_GT(end.usage->flops_skipped, 0.0);  // the embeddings
  EXPECT_EQ(end.usage->precision, "fp32");
}

TEST(FineTuning, TellsItsPhasesAndWhatRemains) {
  TrialWorld world;
  const TrialEnd end =
      world.Run(world.Trial(R"("epochs": 2, "extra": {"export": true},)"));
  ASSERT_EQ(end.state, TrialState::kSucceeded) << end.cause;
  EXPECT_THAT(world.witness.phases,
              ElementsAre(TrialPhase::kEvaluating, TrialPhase::kEvaluating,
                          TrialPhase::kSaving));
  const std::vector<TrialPace>& paces = world.witness.paces;
  EXPECT_FALSE(paces.front().remaining_seconds.has_value());
  EXPECT_EQ(paces.front().phase, TrialPhase::kTraining);
  EXPECT_EQ(paces.back().epoch, 2.0);
  EXPECT_EQ(paces.back().total_epochs, 2.0);
}

TEST(FineTuning, NothingRemainsAfterTheLastEvaluation) {
  TrialWorld world;
  world.Run(world.Trial(R"("epochs": 8,)"));
  std::vector<double> remaining;
  for (const TrialPace& pace : world.witness.paces) {
    remaining.push_back(pace.remaining_seconds.value_or(-1.0));
  }
  EXPECT_EQ(remaining.back(), 0.0);
  EXPECT_GT(remaining[1], 0.0);
}

TEST(FineTuning, StepsAloneMakeEpochsWithFractions) {
  TrialWorld world;
  world.Run(world.Trial(R"("max_steps": 4,)"));
  EXPECT_NEAR(world.witness.paces.back().total_epochs, 4.0 / 3, 1e-9);
  EXPECT_NEAR(world.witness.paces.back().epoch, 4.0 / 3, 1e-9);
}

TEST(FineTuning, GivesTheSameNumbersAgain) {
  TrialWorld world;
  Witness again;
  const TrialMessage trial = world.Trial(R"("epochs": 2,)");
  const TrialEnd first = world.Run(trial);
  EXPECT_EQ(Scored(first), Scored(world.Run(trial, again)));
  EXPECT_EQ(world.witness.reports.back().metrics, again.reports.back().metrics);
}

TEST(FineTuning, AnotherSeedIsAnotherRun) {
  TrialWorld world;
  Witness other;
  TrialMessage trial = world.Trial("");
  const TrialEnd first = world.Run(trial);
  trial.seed = 8;
  EXPECT_NE(Scored(first), Scored(world.Run(trial, other)));
}

// Preempted wherever it may look up, it goes on to the same bits.
TEST(FineTuning, GoesOnAfterAnyStopAsIfNothingHadBeen) {
  TrialWorld world;
  const TrialMessage whole = world.Trial(
      R"("epochs": 3, "warmup_steps": 2, "accumulation": 2,
         "unfreeze_every_steps": 1, "extra": {"export": true},
         "early_stopping": {"metric": "loss", "patience": 9},)");
  const Metrics expected = Scored(world.Run(whole));
  const std::string weights =
      BytesOf(world.folder() + "/model/model.safetensors");
  ASSERT_FALSE(weights.empty());
  int stops = 0;
  for (int asked = 2; asked < 40; ++asked) {
    Witness first;
    first.StopAfter(asked, StopReason::kPreempt);
    if (world.Run(whole, first).state != TrialState::kStopped) break;
    if (first.checkpoint.empty()) continue;  // not a step was taken
    ++stops;
    TrialMessage rest = whole;
    rest.resume_path = world.folder() + "/" + first.checkpoint;
    rest.resume_step = first.checkpoint_step;
    Witness second;
    const TrialEnd end = world.Run(rest, second);
    EXPECT_THAT(second.log, HasSubstr("goes on from step"));
    EXPECT_EQ(Scored(end), expected) << "stopped after " << asked;
    EXPECT_EQ(BytesOf(world.folder() + "/model/model.safetensors"), weights);
  }
  EXPECT_GT(stops, 8);
}

TEST(FineTuning, ATrialThatWillNotComeBackLeavesNoCheckpoint) {
  for (const StopReason reason :
       {StopReason::kPruned, StopReason::kCancelled}) {
    TrialWorld world;
    world.witness.StopAfter(3, reason);
    const TrialEnd end = world.Run(world.Trial(""));
    EXPECT_EQ(end.state, TrialState::kStopped);
    EXPECT_THAT(world.witness.checkpoint, IsEmpty());
  }
}

TEST(FineTuning, SavesAsOftenAsItIsToldAndKeepsTheNewest) {
  TrialWorld world;
  world.checkpoint_seconds = 0.0;
  world.Run(world.Trial(R"("epochs": 2,)"));
  EXPECT_EQ(world.witness.checkpoint, "step-5.safetensors");  // not the last
  EXPECT_FALSE(std::filesystem::exists(world.folder() + "/step-4.safetensors"));
}

TEST(FineTuning, ACheckpointThatCannotBeWrittenIsToldAndCostsNothing) {
  TrialWorld world;
  world.checkpoint_seconds = 0.0;
  TrialMessage trial = world.Trial("");
  const Metrics expected = Scored(world.Run(trial));
  trial.folder += "/not/there";
  Witness second;
  EXPECT_EQ(Scored(world.Run(trial, second)), expected);
  EXPECT_THAT(second.log, HasSubstr("not/there/step-1.safetensors"));
  EXPECT_THAT(second.checkpoint, IsEmpty());
}

TEST(FineTuning, ABrokenCheckpointCostsTimeAndNothingElse) {
  TrialWorld world;
  TrialMessage trial = world.Trial("");
  const Metrics expected = Scored(world.Run(trial));
  trial.resume_path = world.folder() + "/step-2.safetensors";
  trial.resume_step = 2;
  std::ofstream(trial.resume_path) << "no tensors";
  Witness second;
  EXPECT_EQ(Scored(world.Run(trial, second)), expected);
  EXPECT_THAT(second.log, HasSubstr("begins anew: FL-50"));
}

TEST(FineTuning, ALossThatIsNoNumberMakesThePointInfeasible) {
  TrialWorld world;
  const TrialEnd end =
      world.Run(world.Trial(R"("clip_norm": 1e300, "optimizer": "sgd",)",
                            R"("embeddings": 0, "layer.0": 0, "layer.1": 0,
                     "layer.2": 1e30, "pooler": 1e30, "head": 1e30)"));
  EXPECT_EQ(end.state, TrialState::kInfeasible);
  EXPECT_THAT(end.cause, HasSubstr("FL-5017"));
  EXPECT_THAT(end.cause, HasSubstr("at step 2, epoch 1"));
}

TEST(FineTuning, EndsWhenTheLossStopsFalling) {
  TrialWorld world;
  world.Run(world.Trial(R"("epochs": 50, "early_stopping":
      {"metric": "train_loss", "patience": 2, "min_delta": 10},)"));
  EXPECT_EQ(world.witness.reports.size(), 3U);  // one is best, two are not
  EXPECT_THAT(world.witness.log, HasSubstr("early stopping at step 9"));
}

TEST(FineTuning, EvaluatesEachSoManyStepsAndAtTheEnd) {
  TrialWorld world;
  world.Run(world.Trial(
      R"("epochs": 9, "max_steps": 7, "evaluate_every_steps": 3,)"));
  EXPECT_THAT(StepsOf(world.witness), ElementsAre(3, 6, 7));
}

TEST(FineTuning, TellsWhatTrainingDoesEachSoManySteps) {
  TrialWorld world;
  const TrialEnd end =
      world.Run(world.Trial(R"("epochs": 2, "report_every_steps": 2,)"));
  EXPECT_THAT(StepsOf(world.witness), ElementsAre(2, 3, 4, 6));
  const Metrics& second = world.witness.reports[0].metrics;
  EXPECT_EQ(second.at("rate.layer.2"), 2e-3 * second.at("rate_factor"));
  EXPECT_GT(second.at("grad_norm.layer.0"), 0.0);
  // Layer 2 has twice the rate, and as many weights.
  EXPECT_GT(second.at("update_norm.layer.2"), second.at("update_norm.layer.1"));
  EXPECT_THAT(second, Not(Contains(Key("grad_norm.embeddings"))));  // frozen
  EXPECT_THAT(second, Not(Contains(Key("accuracy"))));
  double squares = 0.0;
  for (const char* module :
       {"layer.0", "layer.1", "layer.2", "pooler", "head"}) {
    const double norm = second.at(std::string("grad_norm.") + module);
    squares += norm * norm;
  }
  EXPECT_NEAR(std::sqrt(squares), second.at("grad_norm"), 1e-5);
  // The evaluation at the same step has both, and the end neither.
  EXPECT_THAT(world.witness.reports[3].metrics, Contains(Key("step_loss")));
  EXPECT_THAT(world.witness.reports[3].metrics, Contains(Key("accuracy")));
  EXPECT_THAT(end.metrics, Not(Contains(Key("step_loss"))));
}

TEST(FineTuning, MeasuringAStepChangesNothingOfIt) {
  TrialWorld world;
  Witness again;
  const TrialEnd plain = world.Run(world.Trial(""));
  const TrialEnd measured =
      world.Run(world.Trial(R"("report_every_steps": 1,)"), again);
  EXPECT_EQ(Scored(plain), Scored(measured));
}

constexpr char kLora[] = R"("lora": {"rank": 4, "alpha": 8, "dropout": 0.1},)";

TEST(FineTuning, AdaptersLearnAndAreAllThatTrainsBesideTheHead) {
  TrialWorld world;
  const TrialEnd end =
      world.Run(world.Trial(kLora + std::string(R"("epochs": 8,)")));
  ASSERT_EQ(end.state, TrialState::kSucceeded) << end.cause;
  EXPECT_LT(world.witness.reports.back().metrics.at("train_loss"),
            0.9 * world.witness.reports.front().metrics.at("train_loss"));
  const std::int64_t adapters = 3 * 2 * (4 * 32 + 32 * 4);
  const std::int64_t head = (32 * 32 + 32) + (2 * 32 + 2);  // and pooler
  EXPECT_EQ(end.usage->trained_parameters, adapters + head);
  EXPECT_EQ(end.metrics.at("trained_parameters"), adapters + head);
}

TEST(FineTuning, AdaptersGiveTheSameNumbersAgain) {
  TrialWorld world;
  Witness again;
  const TrialMessage trial = world.Trial(kLora);
  EXPECT_EQ(Scored(world.Run(trial)), Scored(world.Run(trial, again)));
}

// With all adapters frozen only the head trains: as if there were none.
TEST(FineTuning, AdaptersOfRateZeroAreAsIfTheyWereNotThere) {
  TrialWorld world;
  const std::string head = R"("embeddings": 0, "layer.0": 0, "layer.1": 0,
                               "layer.2": 0, "pooler": 1e-3, "head": 1e-2)";
  const std::string lora = R"("lora": {"rank": 4},)";
  Witness with;
  const TrialEnd plain = world.Run(world.Trial("", head));
  const TrialEnd adapted = world.Run(world.Trial(lora, head), with);
  EXPECT_EQ(Scored(plain), Scored(adapted));
  EXPECT_EQ(plain.usage->trained_parameters, adapted.usage->trained_parameters);
}

TEST(FineTuning, AdaptersGoOnAfterAnyStopAndThawFromTheTop) {
  TrialWorld world;
  const TrialMessage whole =
      world.Trial(kLora + std::string(R"("epochs": 2, "unfreeze_every_steps": 1,
                             "extra": {"export": true},)"));
  const Metrics expected = Scored(world.Run(whole));
  const std::string model = world.folder() + "/model/model.safetensors";
  const std::string weights = BytesOf(model);
  int stops = 0;
  for (int asked = 2; asked < 30; ++asked) {
    Witness first;
    first.StopAfter(asked, StopReason::kPreempt);
    if (world.Run(whole, first).state != TrialState::kStopped) break;
    if (first.checkpoint.empty()) continue;  // not a step was taken
    ++stops;
    TrialMessage rest = whole;
    rest.resume_path = world.folder() + "/" + first.checkpoint;
    rest.resume_step = first.checkpoint_step;
    Witness second;
    EXPECT_EQ(Scored(world.Run(rest, second)), expected) << asked;
    EXPECT_THAT(second.log, HasSubstr("goes on from step"));
    EXPECT_EQ(BytesOf(model), weights);
  }
  EXPECT_GT(stops, 4);
}

constexpr char kLayersTrain[] = R"("embeddings": 0, "layer.0": 1e-2,
    "layer.1": 1e-2, "layer.2": 1e-2, "pooler": 0, "head": 1e-2)";

TEST(FineTuning, BottlenecksOfRateZeroAreAsIfTheyWereNotThere) {
  TrialWorld world;
  const std::string frozen = R"("embeddings": 0, "layer.0": 0, "layer.1": 0,
      "layer.2": 0, "pooler": 1e-2, "head": 1e-2)";
  const TrialEnd with =
      world.Run(world.Trial(R"("adapters": {"size": 4},)", frozen));
  ASSERT_EQ(with.state, TrialState::kSucceeded) << with.cause;
  EXPECT_EQ(Scored(with), Scored(world.Run(world.Trial("", frozen))));
}

// What trains instead of weights learns, is little, and goes on to the same
// bits.
TEST(FineTuning, BottlenecksAndBiasesLearnAndGoOnAfterAnyStop) {
  for (const char* what :
       {R"("adapters": {"size": 4},)", R"("trains": "biases",)"}) {
    TrialWorld world;
    const TrialMessage whole = world.Trial(
        what + std::string(R"("epochs": 2, "unfreeze_every_epochs": 1,)"),
        kLayersTrain);
    const TrialEnd end = world.Run(whole);
    ASSERT_EQ(end.state, TrialState::kSucceeded) << end.cause;
    EXPECT_LT(end.usage->trained_parameters, 3'000);
    int stops = 0;
    for (int asked = 2; asked < 30; asked += 3) {
      Witness first;
      first.StopAfter(asked, StopReason::kPreempt);
      if (world.Run(whole, first).state != TrialState::kStopped) break;
      if (first.checkpoint.empty()) continue;
      ++stops;
      TrialMessage rest = whole;
      rest.resume_path = world.folder() + "/" + first.checkpoint;
      rest.resume_step = first.checkpoint_step;
      Witness second;
      EXPECT_EQ(Scored(world.Run(rest, second)), Scored(end)) << asked;
    }
    EXPECT_GT(stops, 1);
  }
}

TEST(FineTuning, ABottleneckThatIsNoneEndsTheTrial) {
  TrialWorld world;
  const TrialEnd end =
      world.Run(world.Trial(R"("adapters": {"size": 33},)", kLayersTrain));
  EXPECT_EQ(end.state, TrialState::kFailed);
  EXPECT_THAT(end.cause, HasSubstr("FL-5015: training.adapters.size is 33"));
}

TEST(FineTuning, ARankThatIsTooLargeForTheModelEndsTheTrial) {
  TrialWorld world;
  const TrialEnd end = world.Run(world.Trial(R"("lora": {"rank": 33},)"));
  EXPECT_EQ(end.state, TrialState::kFailed);
  EXPECT_THAT(end.cause, HasSubstr("FL-5015: training.lora.rank is 33"));
}

TEST(FineTuning, ARateWithoutAnAdapterEndsTheTrial) {
  TrialWorld world;
  const TrialEnd end = world.Run(world.Trial(
      kLora, R"("embeddings": 1e-3, "layer.0": 1e-3, "layer.1": 1e-3,
                "layer.2": 1e-3, "pooler": 1e-3, "head": 1e-3)"));
  EXPECT_EQ(end.state, TrialState::kFailed);
  EXPECT_THAT(end.cause, HasSubstr("rate of embeddings would move nothing"));
}

TEST(FineTuning, AccumulatesWithinAnEpoch) {
  TrialWorld world;
  world.Run(world.Trial(R"("epochs": 2, "accumulation": 2,)"));
  EXPECT_THAT(StepsOf(world.witness), ElementsAre(2, 4));  // 2 + 1 batches
}

TEST(FineTuning, ThawsFromTheTop) {
  TrialWorld world;
  const std::string all = R"("embeddings": 1e-3, "layer.0": 1e-3,
      "layer.1": 1e-3, "layer.2": 1e-3, "pooler": 1e-3, "head": 1e-3)";
  Witness slow;
  const TrialEnd at_once = world.Run(world.Trial("", all));
  const TrialEnd one_by_one =
      world.Run(world.Trial(R"("unfreeze_every_steps": 2,)", all), slow);
  EXPECT_GT(one_by_one.usage->flops_skipped, 0.0);
  EXPECT_EQ(at_once.usage->flops_skipped, 0.0);
  EXPECT_EQ(one_by_one.usage->trained_parameters,
            at_once.usage->trained_parameters);
}

constexpr char kAllTrain[] = R"("embeddings": 1e-3, "layer.0": 1e-3,
    "layer.1": 1e-3, "layer.2": 1e-3, "pooler": 1e-3, "head": 1e-3)";

// Three steps an epoch: nothing of a module moves before its epoch.
TEST(FineTuning, ThawsByEpochsFromTheTop) {
  TrialWorld world;
  const TrialEnd by_epochs = world.Run(world.Trial(
      R"("epochs": 6, "unfreeze_every_epochs": 1, "report_every_steps": 1,)",
      kAllTrain));
  ASSERT_EQ(by_epochs.state, TrialState::kSucceeded) << by_epochs.cause;
  const std::map<std::string, std::int64_t> since = {
      {"head", 1},    {"pooler", 1},   {"layer.2", 4},
      {"layer.1", 7}, {"layer.0", 10}, {"embeddings", 13}};
  for (const auto& [module, first] : since) {
    std::int64_t moved = 99;
    for (const Told& told : world.witness.reports) {
      const auto update = told.metrics.find("update_norm." + module);
      if (update != told.metrics.end() && update->second > 0.0) {
        moved = std::min(moved, told.step);
      }
    }
    EXPECT_EQ(moved, first) << module;
  }
  Witness other;
  const TrialEnd by_steps =
      world.Run(world.Trial(R"("epochs": 6, "unfreeze_every_steps": 3,
                     "report_every_steps": 1,)",
                            kAllTrain),
                other);
  EXPECT_EQ(Scored(by_epochs), Scored(by_steps));
}

// Under a budget of tokens epochs have other numbers of steps.
TEST(FineTuning, ThawsAtTheEndOfAnEpochHoweverLongItIs) {
  TrialWorld world;
  const TrialEnd end = world.Run(world.Trial(R"("epochs": 3, "batch_tokens": 40,
                     "unfreeze_every_epochs": 1, "report_every_steps": 1,)",
                                             kAllTrain));
  ASSERT_EQ(end.state, TrialState::kSucceeded) << end.cause;
  std::int64_t epoch_end = 0;
  for (const Told& told : world.witness.reports) {
    if (epoch_end == 0 && told.metrics.contains("accuracy")) {
      epoch_end = told.step;
    }
    EXPECT_EQ(told.metrics.contains("update_norm.layer.2"),
              epoch_end > 0 && told.step > epoch_end)
        << told.step;
  }
  EXPECT_GT(epoch_end, 3);
}

TEST(FineTuning, TheOutcomesOfExamplesAddUpToTheAccuracy) {
  TrialWorld world;
  const TrialEnd end =
      world.Run(world.Trial(R"("report_example_outcomes": true,)"));
  ASSERT_FALSE(end.evaluations.empty());
  int right = 0;
  for (const char byte : end.evaluations[0].bytes) {
    right += __builtin_popcount(static_cast<unsigned char>(byte));
  }
  EXPECT_EQ(end.evaluations[0].count, 10);
  EXPECT_DOUBLE_EQ(end.metrics.at("accuracy"), right / 10.0);
}

TEST(FineTuning, AMetricThatTheTaskHasNotIsNamedBeforeAnythingIsTrained) {
  TrialWorld world;
  TrialMessage trial = world.Trial("");
  trial.objectives = {{"acuracy", true}};
  const TrialEnd end = world.Run(trial);
  EXPECT_EQ(end.state, TrialState::kFailed);
  EXPECT_THAT(end.cause, HasSubstr("no metric 'acuracy'"));
  EXPECT_THAT(end.cause, HasSubstr("accuracy, f1"));
  EXPECT_THAT(world.witness.reports, IsEmpty());
}

TEST(FineTuning, WhatCannotMoveIsFrozenWhenAskedTo) {
  TrialWorld world;
  TrialMessage trial = world.Trial("", R"("embeddings": 0, "layer.0": 1e-12,
      "layer.1": 1e-3, "layer.2": 1e-3, "pooler": 1e-3, "head": 1e-3)");
  trial.training.virtual_tau = 1e-4;
  const TrialEnd end = world.Run(trial);
  EXPECT_THAT(world.witness.log, HasSubstr("virtually frozen: layer.0"));
  EXPECT_THAT(world.witness.log, Not(HasSubstr("layer.1")));
  EXPECT_EQ(end.usage->virtual_tau, 1e-4);
}

constexpr char kSlowLayer[] = R"("embeddings": 0, "layer.0": 1e-12,
    "layer.1": 1e-3, "layer.2": 1e-3, "pooler": 1e-3, "head": 1e-3)";

TEST(VirtualAudit, TellsTheLargestDifferenceFromPlainTraining) {
  TrialWorld world;
  // Where the norm is clipped, it lacks the frozen layer's gradients.
  TrialMessage trial =
      world.Trial(R"("epochs": 2, "clip_norm": 1e9,)", kSlowLayer);
  trial.training.virtual_tau = 1e-4;
  trial.training.virtual_audit = 1.0;
  const TrialEnd end = world.Run(trial);
  ASSERT_EQ(end.state, TrialState::kSucceeded) << end.cause;
  EXPECT_LT(end.metrics.at("virtual_audit.logits"), 1e-4);
  EXPECT_EQ(end.metrics.at("virtual_audit.accuracy"), 0.0);
  EXPECT_EQ(world.witness.reports.size(), 2U);  // of the trial alone
}

// A tau of 1 freezes what a study would notice, and the audit says so.
TEST(VirtualAudit, SeesAFreezeThatWasNone) {
  TrialWorld world;
  TrialMessage trial = world.Trial(R"("epochs": 2,)");
  trial.training.virtual_tau = 1.0;
  trial.training.virtual_audit = 1.0;
  const TrialEnd end = world.Run(trial);
  EXPECT_THAT(world.witness.log, HasSubstr("virtually frozen: layer.1"));
  EXPECT_GT(end.metrics.at("virtual_audit.logits"), 1e-2);
}

TEST(VirtualAudit, LeavesTheTrialAsItIs) {
  TrialWorld world;
  TrialMessage trial = world.Trial("", kSlowLayer);
  trial.training.virtual_tau = 1e-4;
  const Metrics alone = Scored(world.Run(trial));
  EXPECT_THAT(alone, Not(Contains(Key("virtual_audit.logits"))));
  trial.training.virtual_audit = 1.0;
  Witness again;
  Metrics audited = Scored(world.Run(trial, again));
  std::erase_if(audited, [](const auto& each) {
    return each.first.starts_with("virtual_audit.");
  });
  EXPECT_EQ(audited, alone);
}

TEST(VirtualAudit, ObeysAStop) {
  TrialWorld world;
  TrialMessage trial = world.Trial("", kSlowLayer);
  trial.training.virtual_tau = 1e-4;
  trial.training.virtual_audit = 1.0;
  Witness stopped;
  stopped.StopAfter(8, StopReason::kCancelled);  // it asks 7 times by itself
  EXPECT_EQ(world.Run(trial, stopped).state, TrialState::kStopped);
  EXPECT_THAT(stopped.reports, Not(IsEmpty()));
}

TEST(VirtualFreezing, StepsWithoutABoundAreRefused) {
  TrialWorld world;
  TrialMessage trial =
      world.Trial(R"("optimizer": "sgd", "clip_norm": 0,)", kSlowLayer);
  trial.training.virtual_tau = 1e-4;
  const TrialEnd end = world.Run(trial);
  EXPECT_EQ(end.state, TrialState::kFailed);
  EXPECT_THAT(end.cause, HasSubstr("FL-5015: freeze.virtual_tau needs"));
}

// By counts: each row, tensor and sum is a slice, and none is begun behind the
// stop. What an earlier attempt loaded whole is not loaded again, so that each
// gets farther, and the last one is done.
TEST(TrialPreparer, NothingIsLoadedOnceAStopIsRaised) {
  TrialWorld world;
  const TrialMessage trial = world.Trial("");
  std::vector<std::string> log;
  int asked = 0;
  int slices = 0;
  const StopSign stop([&] { return asked++ == slices; });
  Expected<TrialSetup> setup = world.trial_preparer().Prepare(trial, stop, log);
  while (!setup.ok()) {
    ASSERT_EQ(setup.fault().kind, FaultKind::kStopped);
    ASSERT_EQ(asked, slices + 1);
    asked = 0;
    ++slices;
    setup = world.trial_preparer().Prepare(trial, stop, log);
  }
  EXPECT_GE(slices, 2 * 24);  // rows read and fingerprinted, at once
  TrialWorld fresh;
  const TrialSetup other =
      fresh.trial_preparer().Prepare(fresh.Trial(""), {}, log).value();
  EXPECT_EQ(setup.value().tasks[0].validation.part.fingerprint,
            other.tasks[0].validation.part.fingerprint);
  EXPECT_EQ(setup.value().tasks[0].train->token_total(),
            other.tasks[0].train->token_total());
}

TEST(TrialPreparer, AModuleThatTheModelHasNotIsRefusedWithItsName) {
  TrialWorld world;
  TrialMessage trial = world.Trial("");
  trial.rates["layer.3"] = 1e-3;
  std::vector<std::string> log;
  const Expected<TrialSetup> setup =
      world.trial_preparer().Prepare(trial, {}, log);
  ASSERT_FALSE(setup.ok());
  EXPECT_EQ(setup.fault().kind, FaultKind::kMisuse);
  EXPECT_THAT(setup.fault().cause,
              HasSubstr("tiny has no module layer.3; it has embeddings, "
                        "layer.0 to layer.2, pooler, head"));
}

TEST(TrialPreparer, KeepsWhatIsLoadedAndTouchesItNever) {
  TrialWorld world;
  std::vector<std::string> first;
  std::vector<std::string> second;
  const TrialMessage trial = world.Trial("");
  const TrialSetup before =
      world.trial_preparer().Prepare(trial, {}, first).value();
  const at::Tensor weight =
      before.pretrained->loaded.model.weights()[20].value.clone();
  world.Run(trial);
  const TrialSetup after =
      world.trial_preparer().Prepare(trial, {}, second).value();
  EXPECT_EQ(before.pretrained, after.pretrained);
  EXPECT_EQ(before.tasks[0].train, after.tasks[0].train);
  EXPECT_THAT(first, Not(IsEmpty()));
  EXPECT_THAT(second, IsEmpty());
  EXPECT_TRUE(weight.equal(after.pretrained->loaded.model.weights()[20].value));
}

// Which evaluation a trial hands over: metrics, weights, outcomes, other sets.

// It learns by heart: the loss of other rows rises from the third epoch on.
constexpr char kSteep[] = R"("embeddings": 0, "layer.0": 3e-3,
    "layer.1": 3e-3, "layer.2": 3e-3, "pooler": 3e-3, "head": 3e-2)";

TrialMessage Steep(const TrialWorld& world, const std::string& training) {
  TrialMessage trial =
      world.Trial(training + R"("epochs": 8, "schedule": "constant",
                    "report_example_outcomes": true,
                    "also_evaluate": ["words"], "extra": {"export": true},)",
                  kSteep);
  trial.objectives = {{"loss", false}};
  return trial;
}

const Told& Best(const Witness& witness) {
  return *std::ranges::min_element(witness.reports, {}, [](const Told& told) {
    return told.metrics.at("loss");
  });
}

// The first of a few seeds whose run is one that the test is about.
template <typename Condition>
TrialEnd RunUntil(TrialWorld& world, TrialMessage& trial,
                  const Condition& is_about) {
  for (trial.seed = 1; trial.seed < 20; ++trial.seed) {
    world.witness = Witness();
    TrialEnd end = world.Run(trial);
    if (is_about(end)) return end;
  }
  ADD_FAILURE() << "no seed gives such a run";
  return {};
}

std::string Weights(const TrialWorld& world) {
  std::ifstream file(world.folder() + "/model/model.safetensors",
                     std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Metrics ScoredKept(TrialEnd end) {
  end.metrics.erase("train_seconds");
  end.metrics.erase("peak_memory_mib");
  return end.metrics;
}

TEST(Keep, TheBestEvaluationIsHandedOverWithItsWeights) {
  TrialWorld world;
  const TrialEnd end = world.Run(Steep(world, ""));
  const Told& best = Best(world.witness);
  ASSERT_LT(best.step, world.witness.reports.back().step);
  for (const auto& [name, value] : best.metrics) {
    EXPECT_EQ(end.metrics.at(name), value) << name;
  }
  EXPECT_EQ(end.metrics.at("kept_step"), static_cast<double>(best.step));
  EXPECT_EQ(end.metrics.at("steps"), 24);
  // The same rows, evaluated at the end, with the weights that are there then.
  EXPECT_EQ(end.metrics.at("words.loss"), best.metrics.at("loss"));
  EXPECT_THAT(world.witness.log, HasSubstr("is the best by loss"));
}

// What training alone up to the best step would have left.
TEST(Keep, TheExportIsOfTheBestEvaluation) {
  TrialWorld world;
  const TrialMessage whole = Steep(world, "");
  world.Run(whole);
  const std::string kept = Weights(world);
  const std::int64_t step = Best(world.witness).step;
  Witness again;
  world.Run(Steep(world, "\"max_steps\": " + std::to_string(step) + ","),
            again);
  ASSERT_EQ(again.reports.back().step, step);
  EXPECT_EQ(kept, Weights(world));
}

TEST(Keep, OutcomesAreThoseOfTheBestEvaluation) {
  TrialWorld world;
  TrialMessage trial = Steep(world, "");
  const TrialEnd end = RunUntil(world, trial, [&](const TrialEnd&) {
    return Best(world.witness).metrics.at("accuracy") !=
           world.witness.reports.back().metrics.at("accuracy");
  });
  ASSERT_FALSE(end.evaluations.empty());
  int right = 0;
  for (const char byte : end.evaluations[0].bytes) {
    right += __builtin_popcount(static_cast<unsigned char>(byte));
  }
  EXPECT_DOUBLE_EQ(end.metrics.at("accuracy"), right / 10.0);
}

TEST(Keep, LastHandsOverTheLast) {
  TrialWorld world;
  const TrialEnd end = world.Run(Steep(world, R"("keep": "last",)"));
  const Told& last = world.witness.reports.back();
  EXPECT_EQ(end.metrics.at("loss"), last.metrics.at("loss"));
  EXPECT_EQ(end.metrics.at("words.loss"), last.metrics.at("loss"));
  EXPECT_EQ(end.metrics.at("kept_step"), 24);
}

TEST(Keep, EarlyStoppingHandsOverWhatItWaitedFor) {
  TrialWorld world;
  const TrialEnd end = world.Run(
      Steep(world, R"("early_stopping": {"metric": "loss", "patience": 2},)"));
  const Told& best = Best(world.witness);
  ASSERT_EQ(world.witness.reports.back().step, best.step + 2 * 3);
  EXPECT_EQ(end.metrics.at("loss"), best.metrics.at("loss"));
}

// An objective of another set, or of none, is kept by what evaluations have.
TEST(Keep, ATestObjectiveIsKeptByItsValidationMetric) {
  TrialWorld world;
  TrialMessage trial = Steep(world, "");
  trial.objectives = {{"train_seconds", false}, {"words.loss", false}};
  const TrialEnd end = world.Run(trial);
  EXPECT_EQ(end.metrics.at("loss"), Best(world.witness).metrics.at("loss"));
}

TEST(Keep, GoesOnAfterAnyStopToTheSameBits) {
  TrialWorld world;
  TrialMessage whole = Steep(world, R"("unfreeze_every_steps": 3,)");
  const TrialEnd straight = RunUntil(world, whole, [](const TrialEnd& end) {
    return end.metrics.at("kept_step") < 18;
  });
  const Metrics expected = ScoredKept(straight);
  const std::string weights = Weights(world);
  int carried = 0;
  for (int asked = 2; asked < 70; ++asked) {
    Witness first;
    first.StopAfter(asked, StopReason::kPreempt);
    if (world.Run(whole, first).state != TrialState::kStopped) break;
    if (first.checkpoint.empty()) continue;
    if (static_cast<double>(first.checkpoint_step) > expected.at("kept_step")) {
      ++carried;
    }
    TrialMessage rest = whole;
    rest.resume_path = world.folder() + "/" + first.checkpoint;
    rest.resume_step = first.checkpoint_step;
    Witness second;
    const TrialEnd end = world.Run(rest, second);
    ASSERT_THAT(second.log, HasSubstr("goes on from step"));
    ASSERT_EQ(ScoredKept(end), expected) << "stopped after " << asked;
    ASSERT_EQ(end.evaluations[0].bytes, straight.evaluations[0].bytes);
    ASSERT_EQ(Weights(world), weights);
  }
  EXPECT_GT(carried, 3);
}

TEST(Keep, WhatWasPrunedSaysWhatItMeasuredLast) {
  TrialWorld world;
  world.witness.StopAfter(30, StopReason::kPruned);
  const TrialEnd end = world.Run(Steep(world, ""));
  ASSERT_EQ(end.state, TrialState::kStopped);
  EXPECT_EQ(end.metrics.at("loss"),
            world.witness.reports.back().metrics.at("loss"));
  EXPECT_THAT(end.metrics, Not(Contains(Key("kept_step"))));
}

}  // namespace
}  // namespace frostline::trainer
