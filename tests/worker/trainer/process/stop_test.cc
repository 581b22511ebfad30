// SPDX-License-Identifier: Apache-2.0
//
// How a trial is cut short: by a stop, by exit, by an agent that is gone.
#include <csignal>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/trainer/process/small_world.h"
#include "tests/worker/trainer/process/trainer_under_test.h"

namespace frostline::trainer {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

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
