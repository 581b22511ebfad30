// SPDX-License-Identifier: Apache-2.0
//
// Trials of several tasks.
#include <filesystem>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "tests/worker/trainer/trial/trial_world.h"
#include "worker/trainer/trial/batch_maker.h"

namespace frostline::trainer {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Key;

constexpr char kTasks[] =
    R"({"name": "words", "data": {"id": "words"}, "head": {"kind": "mlp"}},
       {"name": "alike", "data": {"id": "scores"}, "loss_weight": 0.2,
        "head": {"kind": "cosine", "scale": 5}})";

Expected<TrialMessage> ReadTasks(const TrialWorld& world,
                                 const std::string& training,
                                 const std::string& tasks = kTasks,
                                 const std::string& rates = "") {
  std::string line = world.Message(training, rates);
  const std::string data = R"("data": {"id": "words"})";
  line.replace(line.find(data), data.size(), "\"tasks\": [" + tasks + "]");
  const std::string metric = R"("metric": "accuracy")";
  line.replace(line.find(metric), metric.size(), R"("metric": "mean")");
  return ReadTrialMessage(Json::Parse(line).value().root());
}

TrialMessage Trial(const TrialWorld& world, const std::string& training,
                   const std::string& tasks = kTasks,
                   const std::string& rates = "") {
  Expected<TrialMessage> trial = ReadTasks(world, training, tasks, rates);
  EXPECT_TRUE(trial.ok()) << trial.fault().cause;
  return std::move(trial).value();
}

Metrics ScoredTasks(TrialEnd end) {
  end.metrics.erase("train_seconds");
  return end.metrics;
}

TEST(TaskTrials, EachTaskIsMeasuredAndTheMeanOfAll) {
  TrialWorld world;
  const TrialEnd end = world.Run(Trial(world, R"("epochs": 6,)"));
  ASSERT_EQ(end.state, TrialState::kSucceeded) << end.cause;
  EXPECT_DOUBLE_EQ(
      end.metrics.at("mean"),
      (end.metrics.at("words.accuracy") + end.metrics.at("alike.pearson")) / 2);
  EXPECT_THAT(end.metrics, Contains(Key("alike.mse")));
  EXPECT_LT(world.witness.reports.back().metrics.at("train_loss"),
            world.witness.reports.front().metrics.at("train_loss"));
}

// However batches are mixed, and gradients too.
TEST(TaskTrials, GoOnAfterAnyStopAsIfNothingHadBeen) {
  for (const std::string mixing :
       {R"("task_mixing": "random",)", R"("task_mixing": "in_proportion",)",
        R"("task_mixing": "joined", "gradient_surgery": "pcgrad",)",
        R"("smart": {"weight": 1, "bregman": 1},)"}) {
    TrialWorld world;
    const TrialMessage whole = Trial(world, R"("epochs": 2,)" + mixing);
    const TrialEnd end = world.Run(whole);
    ASSERT_EQ(end.state, TrialState::kSucceeded) << end.cause;
    int stops = 0;
    for (int asked = 3; asked < 30; asked += 4) {
      Witness first;
      first.StopAfter(asked, StopReason::kPreempt);
      if (world.Run(whole, first).state != TrialState::kStopped) break;
      if (first.checkpoint.empty()) continue;
      ++stops;
      TrialMessage rest = whole;
      rest.resume_path = world.folder() + "/" + first.checkpoint;
      rest.resume_step = first.checkpoint_step;
      Witness second;
      EXPECT_EQ(ScoredTasks(world.Run(rest, second)), ScoredTasks(end))
          << mixing;
      EXPECT_THAT(second.log, HasSubstr("goes on from step"));
    }
    EXPECT_GT(stops, 1);
  }
}

TEST(TaskTrials, EachTaskLeavesItsOutcomesAndItsPredictions) {
  TrialWorld world;
  const TrialMessage trial = Trial(world, R"("report_example_outcomes": true,
                      "predictions": ["dev"],)");
  const TrialEnd end = world.Run(trial);
  ASSERT_EQ(end.state, TrialState::kSucceeded) << end.cause;
  ASSERT_EQ(end.evaluations.size(), 2U);
  EXPECT_EQ(end.evaluations[0].task, "words");
  EXPECT_EQ(end.evaluations[0].encoding, "PACKED_BITS");
  EXPECT_EQ(end.evaluations[1].task, "alike");
  EXPECT_EQ(end.evaluations[1].encoding, "FLOAT16");
  for (const char* const task : {"words", "alike"}) {
    EXPECT_TRUE(std::filesystem::exists(trial.folder + "/predictions/" + task +
                                        "/validation.tsv"));
  }
}

TEST(TaskTrials, StepsWithAConflictAreCounted) {
  TrialWorld world;
  const std::string opposite =
      R"({"name": "a", "data": {"id": "words"}},
         {"name": "b", "data": {"id": "words",
          "label_map": {"yes": "no", "no": "yes"}}})";
  const TrialEnd end =
      world.Run(Trial(world, R"("epochs": 4, "task_mixing": "joined",
                "gradient_surgery": "dominant",)",
                      opposite));
  ASSERT_EQ(end.state, TrialState::kSucceeded) << end.cause;
  EXPECT_GT(end.metrics.at("gradient_conflicts"), 0.0);
  EXPECT_LE(end.metrics.at("gradient_conflicts"), end.metrics.at("steps"));
}

// What no task trains is a prefix that is shared.
TEST(TaskTrials, ModulesThatAllTasksFreezeAreShared) {
  TrialWorld world;
  const std::string frozen =
      R"({"name": "a", "data": {"id": "words"}, "freeze": ["layer.0"]},
         {"name": "b", "data": {"id": "words"}, "freeze": ["layer.0"]})";
  const TrialEnd end = world.Run(Trial(world, "", frozen));
  ASSERT_EQ(end.state, TrialState::kSucceeded) << end.cause;
  EXPECT_THAT(world.witness.log, HasSubstr("no task trains it: layer.0"));
  EXPECT_GT(end.usage->flops_shared, 0.0);
}

TEST(TaskTrials, WhatDoesNotGoTogetherIsNamed) {
  const TrialWorld world;
  const std::string a = R"({"name": "a", "data": {"id": "words"})";
  const auto cause = [&](const std::string& training,
                         const std::string& tasks) {
    const Expected<TrialMessage> trial = ReadTasks(world, training, tasks);
    return trial.ok() ? std::string() : trial.fault().cause;
  };
  EXPECT_THAT(cause("", a + "}, " + a + "}"), HasSubstr("two tasks"));
  EXPECT_THAT(cause("", a + R"(, "share": 1}, {"name": "b",
                              "data": {"id": "words"}})"),
              HasSubstr("share"));
  EXPECT_THAT(cause(R"("gradient_surgery": "pcgrad",)", kTasks),
              HasSubstr("gradient_surgery"));
  EXPECT_THAT(cause("", a + R"(, "loss": "hinge"})"), HasSubstr("loss"));
  EXPECT_THAT(cause("", a + R"(, "head": {"kind": "features",
                                        "pair": "joint"}})"),
              HasSubstr("head.pair"));
}

TEST(TaskTrials, WhatTheDataDoNotHaveIsNamedBeforeTraining) {
  TrialWorld world;
  const auto cause = [&](const std::string& more) {
    std::vector<std::string> log;
    const TrialMessage trial = Trial(
        world, "", R"({"name": "a", "data": {"id": "words"},)" + more + "}");
    const Expected<TrialSetup> setup =
        world.workbench().Prepare(trial, {}, log);
    return setup.ok() ? std::string() : setup.fault().cause;
  };
  EXPECT_THAT(cause(R"("loss": "squared_error")"), HasSubstr("the loss is"));
  EXPECT_THAT(cause(R"("head": {"kind": "cosine"})"), HasSubstr("cosine"));
  EXPECT_THAT(cause(R"("head": {"kind": "features"})"),
              HasSubstr("no second text"));
  EXPECT_THAT(cause(R"("freeze": ["layer.9"])"), HasSubstr("layer.9"));
}

TEST(TaskTrials, AnObjectiveOfNoTaskIsNamed) {
  TrialWorld world;
  TrialMessage trial = Trial(world, "");
  trial.objectives[0].metric = "sts.pearson";
  const TrialEnd end = world.Run(trial);
  EXPECT_EQ(end.state, TrialState::kFailed);
  EXPECT_THAT(end.cause, HasSubstr("sts.pearson"));
}

// --- whose batches come when ---

MixOptions Mix(TaskMixing mixing, std::vector<double> shares) {
  MixOptions options;
  options.mixing = mixing;
  options.batches = {.batch_size = 2, .seed = 5};
  options.shares = std::move(shares);
  return options;
}

const std::vector<std::vector<std::uint32_t>> kLengths = {
    std::vector<std::uint32_t>(12, 4), std::vector<std::uint32_t>(6, 9)};

TEST(TaskBatches, InProportionSharesAlwaysHold) {
  TaskBatches batches(kLengths, Mix(TaskMixing::kInProportion, {1, 2}));
  int of_second = 0;
  for (int i = 1; i <= 9; ++i) {
    of_second += batches.Next().front().task == 1 ? 1 : 0;
    EXPECT_NEAR(of_second, i * 2.0 / 3.0, 1.0);
  }
  EXPECT_TRUE(batches.AtEpochEnd());
}

TEST(TaskBatches, JoinedSetsAreDrawnWithoutReplacement) {
  TaskBatches batches(kLengths, Mix(TaskMixing::kJoined, {1, 1}));
  std::set<std::pair<std::size_t, std::uint32_t>> seen;
  bool mixed = false;
  while (!batches.AtEpochEnd()) {
    const std::vector<TaskRows> parts = batches.Next();
    mixed = mixed || parts.size() == 2;
    for (const TaskRows& part : parts) {
      for (const std::uint32_t row : part.rows) {
        EXPECT_TRUE(seen.emplace(part.task, row).second);
      }
    }
  }
  EXPECT_EQ(seen.size(), 18U);
  EXPECT_EQ(batches.BatchesOf(0), 9U);
}

TEST(TaskBatches, GoOnFromAnyPosition) {
  for (const TaskMixing mixing : {TaskMixing::kRandom, TaskMixing::kJoined}) {
    TaskBatches whole(kLengths, Mix(mixing, {1, 1}));
    for (int i = 0; i < 20; ++i) {
      TaskBatches rest(kLengths, Mix(mixing, {1, 1}));
      rest.Seek(whole.position());
      TaskBatches copy(kLengths, Mix(mixing, {1, 1}));
      copy.Seek(whole.position());
      const std::vector<TaskRows> next = whole.Next();
      EXPECT_EQ(rest.Next().front().rows, next.front().rows);
      EXPECT_EQ(copy.Next().front().task, next.front().task);
      EXPECT_EQ(rest.position(), whole.position());
    }
  }
}

// 900 draws at 3 : 1; a share's deviation is .014.
TEST(TaskBatches, RandomTurnsComeByTheirShares) {
  TaskBatches batches(kLengths, Mix(TaskMixing::kRandom, {3, 1}));
  int of_second = 0;
  std::set<int> of_epochs;  // how many were the second's in an epoch
  for (int epoch = 0; epoch < 100; ++epoch) {
    int here = 0;
    do {
      here += batches.Next().front().task == 1 ? 1 : 0;
    } while (!batches.AtEpochEnd());
    of_second += here;
    of_epochs.insert(here);
  }
  EXPECT_NEAR(of_second / 900.0, 0.25, 0.06);
  EXPECT_GT(of_epochs.size(), 3U);
}

TEST(TaskBatches, InProportionNoTaskIsABatchBehind) {
  const std::vector<std::vector<std::uint32_t>> lengths(
      4, std::vector<std::uint32_t>(20, 5));
  const std::vector<double> shares = {5, 1, 1, 1};
  TaskBatches batches(lengths, Mix(TaskMixing::kInProportion, shares));
  std::vector<double> had(4, 0.0);
  for (int i = 1; i <= 40; ++i) {
    had[batches.Next().front().task] += 1.0;
    for (std::size_t task = 0; task < had.size(); ++task) {
      EXPECT_LT(shares[task] / 8.0 * i - had[task], 1.0) << i;
    }
  }
}

// "0:2,5@0 " of a batch: whose rows, which, in which pass.
std::string InWords(const std::vector<TaskRows>& batch) {
  std::string shown;
  for (const TaskRows& part : batch) {
    shown += std::to_string(part.task) + ":";
    for (const std::uint32_t row : part.rows) {
      shown += std::to_string(row) + ",";
    }
    shown += "@" + std::to_string(part.epoch) + " ";
  }
  return shown;
}

TEST(TaskBatches, FromAnyStepOnTheOrderIsTheSame) {
  for (const TaskMixing mixing :
       {TaskMixing::kRandom, TaskMixing::kInProportion, TaskMixing::kJoined}) {
    TaskBatches whole(kLengths, Mix(mixing, {1, 2}));
    std::vector<MixPosition> positions;
    std::vector<std::string> order;
    for (int i = 0; i < 30; ++i) {  // more than three epochs
      positions.push_back(whole.position());
      order.push_back(InWords(whole.Next()));
    }
    for (std::size_t from = 0; from < order.size(); ++from) {
      TaskBatches rest(kLengths, Mix(mixing, {1, 2}));
      rest.Seek(positions[from]);
      for (std::size_t i = from; i < order.size(); ++i) {
        ASSERT_EQ(InWords(rest.Next()), order[i]) << from << " to " << i;
      }
    }
  }
}

}  // namespace
}  // namespace frostline::trainer
