// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/trainer/process/trainer_under_test.h"

namespace frostline::trainer {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

// What the process says and when, over its real pipes.

class Protocol : public ::testing::Test {
 protected:
  Protocol() { world_.Write(); }

  SmallWorld world_;
};

TEST_F(Protocol, HelloThenReportsThenTheFinish) {
  TrainerUnderTest trainer(world_.registry());
  const Conversation heard = trainer.Train(world_.Trial());
  EXPECT_THAT(trainer.first_line(), StartsWith("{\"type\": \"hello\""));
  EXPECT_EQ(heard.finish["state"], "succeeded");
  ASSERT_THAT(heard.Evaluations(), SizeIs(3));  // one an epoch
  EXPECT_EQ(heard.Of("report").back()["step"], 12);
  EXPECT_EQ(heard.Of("report").back()["total_steps"], 12);
  EXPECT_EQ(heard.finish["metrics"]["steps"], 12);
}

// Asked by an agent that takes it.
TEST_F(Protocol, ReportsSayHowFarItIs) {
  TrainerUnderTest trainer(world_.registry());
  nlohmann::json trial = world_.Trial();
  trial["takes"] = {"precision", "progress"};
  const std::vector<nlohmann::json> reports = trainer.Train(trial).Of("report");
  EXPECT_EQ(reports.front()["phase"], "loading");
  EXPECT_EQ(reports.front()["step"], 0);
  EXPECT_FALSE(reports.front().contains("epoch"));
  std::set<std::string> phases;
  std::vector<double> epochs;  // of evaluations
  for (const nlohmann::json& report : reports) {
    phases.insert(report["phase"].get<std::string>());
    if (report.contains("metrics") && !report["metrics"].empty()) {
      epochs.push_back(report["epoch"].get<double>());
      EXPECT_EQ(report["total_epochs"], 3.0);
      EXPECT_GE(report["remaining_s"], 0.0);
    }
  }
  EXPECT_EQ(epochs, (std::vector<double>{1.0, 2.0, 3.0}));
  EXPECT_EQ(phases,
            (std::set<std::string>{"evaluating", "loading", "training"}));
}

// The agent takes a step twice from a report without metrics alone.
TEST_F(Protocol, APhaseHasTheStepThatWasToldLast) {
  TrainerUnderTest trainer(world_.registry());
  nlohmann::json trial = world_.Trial();
  trial["takes"] = {"precision", "progress"};
  std::int64_t last = 0;
  for (const nlohmann::json& report : trainer.Train(trial).Of("report")) {
    const auto step = report["step"].get<std::int64_t>();
    const bool is_evaluating = report["phase"] == "evaluating";
    if (is_evaluating && !report.contains("metrics")) {
      EXPECT_EQ(step, last);
    } else if (report.contains("metrics")) {
      EXPECT_GT(step, last);
    }
    last = step;
  }
  EXPECT_EQ(last, 12);
}

TEST_F(Protocol, AnAgentThatDoesNotTakeItHearsNothingOfIt) {
  TrainerUnderTest trainer(world_.registry());
  for (const auto& report : trainer.Train(world_.Trial()).Of("report")) {
    EXPECT_FALSE(report.contains("phase"));
    EXPECT_TRUE(report.contains("metrics"));
  }
}

TEST_F(Protocol, TheFinishIsOfTheBestEvaluation) {
  TrainerUnderTest trainer(world_.registry());
  const Conversation heard = trainer.Train(world_.Trial());
  double best = 1e9;
  for (const nlohmann::json& each : heard.Evaluations()) {
    best = std::min(best, each["loss"].get<double>());
  }
  EXPECT_EQ(heard.finish["metrics"]["loss"], best);
}

TEST_F(Protocol, UsageTellsWhatItCost) {
  TrainerUnderTest trainer(world_.registry());
  const nlohmann::json usage = trainer.Train(world_.Trial()).finish["usage"];
  EXPECT_GT(usage["train_seconds"], 0.0);
  EXPECT_GE(usage["total_seconds"], usage["train_seconds"]);
  EXPECT_GT(usage["processor_seconds"], 0.0);
  EXPECT_EQ(usage["steps"], 12);
  EXPECT_EQ(usage["flops_skipped"], 0.0);
  EXPECT_GT(usage["flops_spent"], 1e6);
  EXPECT_GT(usage["peak_memory_bytes"], 1 << 20);
  EXPECT_EQ(usage["device"], "cpu");
  EXPECT_THAT(usage["data_fingerprint"].get<std::string>(), SizeIs(64));
}

TEST_F(Protocol, TheSameTrialGivesTheSameBitsHereAndInANewProcess) {
  const nlohmann::json trial = world_.Trial();
  TrainerUnderTest trainer(world_.registry());
  const Conversation first = trainer.Train(trial);
  const Conversation second = trainer.Train(trial);
  const Conversation fresh = TrainerUnderTest(world_.registry()).Train(trial);
  EXPECT_EQ(first.finish["state"], "succeeded");
  EXPECT_EQ(Numbers(first.finish), Numbers(second.finish));
  EXPECT_EQ(Numbers(first.finish), Numbers(fresh.finish));
  EXPECT_EQ(first.Evaluations(), second.Evaluations());
}

TEST_F(Protocol, WhatAnotherTrialDidBetweenChangesNothing) {
  TrainerUnderTest trainer(world_.registry());
  const nlohmann::json trial = world_.Trial();
  nlohmann::json other = world_.Trial();
  other["seed"] = 8;
  other["rates"]["layer.1"] = 3e-2;
  const nlohmann::json first = Numbers(trainer.Train(trial).finish);
  const nlohmann::json between = Numbers(trainer.Train(other).finish);
  EXPECT_NE(first["loss"], between["loss"]);
  EXPECT_EQ(first, Numbers(trainer.Train(trial).finish));
}

TEST_F(Protocol, TheSecondTrialLoadsNothing) {
  TrainerUnderTest trainer(world_.registry());
  nlohmann::json trial = world_.Trial();
  trial["training"]["keep"] = "last";  // another evaluation would be told
  EXPECT_THAT(trainer.Train(trial).Log(),
              HasSubstr("data set d: 48 rows to train, 20 to validate"));
  EXPECT_EQ(trainer.Train(trial).Log(), "");
  trial["rates"]["head"] = 0.0;
  EXPECT_EQ(trainer.Train(trial).Log(), "");
}

TEST_F(Protocol, FieldsThatAreNotKnownArePassedOver) {
  TrainerUnderTest trainer(world_.registry());
  nlohmann::json trial = world_.Trial();
  const nlohmann::json plain = trainer.Train(trial).finish;
  trial["colour"] = {{"of", {"a", nullptr}}};
  trial["model"]["colour"] = "red";
  trial["data"]["colour"] = 1;
  trainer.Send({{"type", "weather"}, {"sun", true}});
  EXPECT_EQ(Numbers(trainer.Train(trial).finish), Numbers(plain));
}

TEST_F(Protocol, TrialsSentAheadAreTrainedInOrder) {
  TrainerUnderTest trainer(world_.registry());
  for (const int epochs : {1, 2, 3}) {
    nlohmann::json trial = world_.Trial();
    trial["training"]["epochs"] = epochs;
    trainer.Send(trial);
  }
  trainer.CloseInput();
  for (const int epochs : {1, 2, 3}) {
    EXPECT_EQ(trainer.ReadToFinish().finish["metrics"]["steps"], 4 * epochs);
  }
  EXPECT_EQ(trainer.Wait(), 0);
}

TEST_F(Protocol, ALastLineNeedsNoNewline) {
  TrainerUnderTest trainer(world_.registry());
  trainer.SendBytes(world_.Trial().dump());
  trainer.CloseInput();
  EXPECT_EQ(trainer.ReadToFinish().finish["state"], "succeeded");
  EXPECT_EQ(trainer.Wait(), 0);
}

TEST_F(Protocol, NothingToDoIsNoFailure) {
  TrainerUnderTest trainer(world_.registry());
  trainer.SendBytes("\n  \r\n{\"type\": \"exit\"}\n");
  EXPECT_EQ(trainer.Wait(), 0);
  EXPECT_FALSE(trainer.Read());
}

class NoMessage : public Protocol,
                  public ::testing::WithParamInterface<std::string> {};

TEST_P(NoMessage, EndsTheProcessWithAWord) {
  TrainerUnderTest trainer(world_.registry());
  trainer.SendBytes(GetParam() + "\n");
  EXPECT_FALSE(trainer.Read());
  EXPECT_EQ(trainer.Wait(), 1);
  EXPECT_THAT(trainer.Errors(),
              HasSubstr("no message of the trainer protocol"));
}

INSTANTIATE_TEST_SUITE_P(
    Lines, NoMessage,
    ::testing::Values("train, please", "[]",
                      "{\"type\": \"trial\", \"x\": NAN}",
                      "{\"type\": \"trial\", \"x\": \"\xFF\"}",
                      "{\"type\": \"trial\", \"x\": " +
                          std::string(100'000, '[') +
                          std::string(100'000, ']') + "}",
                      std::string((1 << 20) + 1, ' ') + "{}"));

TEST_F(Protocol, ALineOfOneMebibyteIsRead) {
  TrainerUnderTest trainer(world_.registry());
  std::string line = world_.Trial().dump();
  line.pop_back();
  line += ", \"padding\": \"";
  line += std::string((1 << 20) - line.size() - 2, 'x') + "\"}";
  trainer.SendBytes(line + "\n");
  EXPECT_EQ(trainer.ReadToFinish().finish["state"], "succeeded");
}

// MKL says on standard output what it computes, when it is asked to.
TEST_F(Protocol, WhatALibraryPrintsGoesToTheLog) {
  TrainerStart start;
  start.environment = {"MKL_VERBOSE=1", "ONEDNN_VERBOSE=1"};
  TrainerUnderTest trainer(world_.registry(), start);
  EXPECT_EQ(trainer.Train(world_.Trial()).finish["state"], "succeeded");
  const std::filesystem::path links =
      "/proc/" + std::to_string(trainer.pid()) + "/fd";
  EXPECT_EQ(std::filesystem::read_symlink(links / "1"),
            std::filesystem::read_symlink(links / "2"));
  EXPECT_THAT(trainer.first_line(), HasSubstr("hello"));
  trainer.CloseInput();
  EXPECT_EQ(trainer.Wait(), 0);
  EXPECT_FALSE(trainer.Read());
}

// How a trial is cut short: by a stop, by exit, by an agent that is gone.

class Stop : public ::testing::Test {
 protected:
  Stop() {
    world_.AddData(
        "big", "format: tsv",
        {{"train", Reviews(2048, 3)}, {"validation", Reviews(4, 4)}});
    world_.Write();
  }

  // Steps of a tenth of a second and more, a report after each.
  nlohmann::json LongTrial() {
    nlohmann::json trial = world_.Trial("m", "big");
    trial["training"]["batch_size"] = 1024;
    trial["training"]["epochs"] = 100'000;
    trial["training"]["evaluate_every_steps"] = 1;
    return trial;
  }

  // Up to the report of this step; checkpoints before it are passed over.
  static void WaitForStep(TrainerUnderTest& trainer, std::int64_t step) {
    while (const auto message = trainer.Read()) {
      if ((*message)["type"] == "finish") FAIL() << *message;
      if ((*message)["type"] != "report") continue;
      if ((*message)["step"] >= step) return;
    }
    FAIL() << trainer.Errors();
  }

  SmallWorld world_;
};

// The process is held while the stop is put into its pipe: when it goes on, a
// step that had begun ends, and at most one more begins before the stop is
// read.
TEST_F(Stop, EndsTheTrialWithinAStep) {
  TrainerUnderTest trainer(world_.registry());
  for (const std::string reason :
       {"pruned", "cancelled", "preempt", "drain", "hang", "a later word"}) {
    SCOPED_TRACE(reason);
    trainer.Send(LongTrial());
    WaitForStep(trainer, 2);
    trainer.Signal(SIGSTOP);
    trainer.Send({{"type", "stop"}, {"reason", reason}});
    trainer.Signal(SIGCONT);
    const Conversation rest = trainer.ReadToFinish();
    EXPECT_EQ(rest.finish["state"], "stopped");
    EXPECT_LE(rest.finish["metrics"]["steps"], 2 + 2);
    const bool comes_back = reason != "pruned" && reason != "cancelled";
    ASSERT_THAT(rest.Of("checkpoint"), SizeIs(comes_back ? 1 : 0));
    if (!comes_back) continue;
    EXPECT_EQ(rest.Of("checkpoint")[0]["step"],
              rest.finish["metrics"]["steps"]);
  }
}

TEST_F(Stop, AfterTheFinishIsNotForTheNextTrial) {
  TrainerUnderTest trainer(world_.registry());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(trainer.Train(world_.Trial()).finish["metrics"]["steps"], 12);
    trainer.Send({{"type", "stop"}, {"reason", "pruned"}});
  }
}

TEST_F(Stop, BeforeAnyTrialIsForNobody) {
  TrainerUnderTest trainer(world_.registry());
  trainer.Send({{"type", "stop"}, {"reason", "preempt"}});
  EXPECT_EQ(trainer.Train(world_.Trial()).finish["state"], "succeeded");
}

TEST_F(Stop, BeforeTheFirstStepLeavesNoCheckpoint) {
  TrainerUnderTest trainer(world_.registry());
  trainer.Signal(SIGSTOP);
  trainer.Send(world_.Trial());
  trainer.Send({{"type", "stop"}, {"reason", "preempt"}});
  trainer.Signal(SIGCONT);
  const Conversation heard = trainer.ReadToFinish();
  EXPECT_EQ(heard.finish["state"], "stopped");
  EXPECT_THAT(heard.Of("checkpoint"), IsEmpty());
  EXPECT_EQ(trainer.Train(world_.Trial()).finish["state"], "succeeded");
}

// The last row is none: a trainer that reads on to the end says FL-5011.
TEST_F(Stop, WhileRowsAreReadEndsTheTrialBeforeTheLast) {
  world_.AddData("torn", "format: tsv",
                 {{"train", Reviews(200'000, 5) + "no label\n"},
                  {"validation", Reviews(4, 6)}});
  world_.Write();
  TrainerUnderTest trainer(world_.registry());
  const Conversation whole = trainer.Train(world_.Trial("m", "torn"));
  ASSERT_THAT(whole.finish["cause"].get<std::string>(), HasSubstr("FL-5011"));
  for (const std::string reason : {"cancelled", "preempt"}) {
    trainer.Signal(SIGSTOP);
    trainer.Send(world_.Trial("m", "torn"));
    trainer.Send({{"type", "stop"}, {"reason", reason}});
    trainer.Signal(SIGCONT);
    const Conversation heard = trainer.ReadToFinish();
    EXPECT_EQ(heard.finish["state"], "stopped") << heard.finish;
    EXPECT_EQ(heard.finish["metrics"]["steps"], 0);
    EXPECT_THAT(heard.Of("checkpoint"), IsEmpty());
    EXPECT_THAT(heard.Log(), HasSubstr("stopped while data"));
  }
  EXPECT_EQ(trainer.Train(world_.Trial()).finish["state"], "succeeded");
}

TEST_F(Stop, ExitSavesWhatIsTrainedAndEndsTheProcess) {
  TrainerUnderTest trainer(world_.registry());
  trainer.Send(LongTrial());
  WaitForStep(trainer, 1);
  trainer.Send({{"type", "exit"}});
  const Conversation rest = trainer.ReadToFinish();
  EXPECT_EQ(rest.finish["state"], "stopped");
  EXPECT_THAT(rest.Of("checkpoint"), SizeIs(1));
  EXPECT_EQ(trainer.Wait(), 0);
}

TEST_F(Stop, TheEndOfInputLetsTheTrialFinish) {
  TrainerUnderTest trainer(world_.registry());
  trainer.Send(world_.Trial());
  trainer.CloseInput();
  EXPECT_EQ(trainer.ReadToFinish().finish["metrics"]["steps"], 12);
  EXPECT_EQ(trainer.Wait(), 0);
}

// The input stays open: nothing but a failing write tells that the agent is
// gone.
TEST_F(Stop, ClosedOutputEndsTheProcess) {
  TrainerUnderTest trainer(world_.registry());
  trainer.Send(LongTrial());
  WaitForStep(trainer, 1);
  trainer.CloseOutput();
  EXPECT_EQ(trainer.Wait(), 1);
}

TEST_F(Stop, ClosedOutputIsSeenWhereNoReportIsDue) {
  TrainerUnderTest trainer(world_.registry());
  nlohmann::json trial = LongTrial();
  trial["training"]["evaluate_every_steps"] = 1 << 30;
  trial["training"]["batch_size"] = 64;
  trainer.Send(trial);
  WaitForStep(trainer, 1);  // a sign of life
  trainer.CloseOutput();
  EXPECT_EQ(trainer.Wait(), 1);
}

}  // namespace
}  // namespace frostline::trainer
