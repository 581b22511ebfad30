// SPDX-License-Identifier: Apache-2.0
//
// The agent, a real trainer process and a scripted coordinator: what is said
// to whom when all goes well, and when the trainer or the lease does not.
#include <filesystem>
#include <utility>

#include "gmock/gmock.h"
#include "tests/worker/agent/rig.h"

namespace frostline::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kWaitForStop[] = R"(report(1, 0.5)
note("pid", os.getpid())
m = next_message()
note("reason", m["reason"])
finish("stopped", 0.25)
)";

constexpr char kNeverStops[] = R"(report(1, 0.5)
note("pid", os.getpid())
while True: time.sleep(1)
)";

TEST(Agent, TrainsTrialAfterTrialOnOneTrainer) {
  Rig rig("report(1, 0.5)\nreport(2, 0.75)\nfinish('succeeded', os.getpid())");
  rig.coordinator().Offer(1);
  rig.coordinator().Offer(ScriptedCoordinator::LeaseOf(2, 4));
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return heard.finishes.size() == 2; }));
  rig.coordinator().EndStudy();
  EXPECT_EQ(rig.Join(), 0);
  const Heard heard = rig.coordinator().heard();
  EXPECT_EQ(heard.finishes[0].outcome().kind(), v1::Outcome::SUCCEEDED);
  EXPECT_EQ(heard.finishes[1].lease().attempt(), 4);
  EXPECT_EQ(heard.finishes[1].lease().secret(), "secret-2");
  EXPECT_EQ(heard.finishes[0].outcome().metrics().at("score"),
            heard.finishes[1].outcome().metrics().at("score"));
  EXPECT_EQ(rig.SpoolFiles(), 0);
  EXPECT_FALSE(std::filesystem::exists(rig.File("runs/trials/s/1")));
}

TEST(Agent, WhatRanOutOfMemoryTrainsNoOtherTrial) {
  Rig rig(
      "note('ran' + t['trial'][-1], os.getpid())\n"
      "if t['trial'].endswith('/1'):\n"
      "    say(type='finish', state='failed', **{'class': 'out_of_memory'},\n"
      "        cause='FL-5016: full')\n"
      "else: finish('succeeded')");
  rig.coordinator().Offer(1);
  rig.coordinator().Offer(2);
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return heard.finishes.size() == 2; }));
  const Heard heard = rig.coordinator().heard();
  EXPECT_EQ(heard.finishes[0].outcome().failure(),
            v1::FAILURE_CLASS_OUT_OF_MEMORY);
  EXPECT_EQ(heard.finishes[1].outcome().kind(), v1::Outcome::SUCCEEDED);
  EXPECT_NE(rig.AwaitFile("ran1"), rig.AwaitFile("ran2"));
}

TEST(Agent, EveryMeasurementArrivesOnceAndInOrder) {
  Rig rig("for i in range(500): report(i, i)\nfinish('succeeded')");
  rig.coordinator().Offer(1);
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return !heard.finishes.empty(); }));
  const Heard heard = rig.coordinator().heard();
  std::int64_t next = 0;
  std::int64_t sequence = 0;
  for (const auto& report : heard.reports) {
    // Some were put together on the way.
    EXPECT_GT(report.sequence(), std::exchange(sequence, report.sequence()));
    for (const auto& m : report.measurements()) EXPECT_EQ(m.step(), next++);
  }
  for (const auto& m : heard.finishes[0].measurements()) {
    EXPECT_EQ(m.step(), next++);
  }
  EXPECT_EQ(next, 500);
}

TEST(Agent, ALostLeaseKillsTheTrainingAtOnceAndSaysNothing) {
  Rig rig(kNeverStops);
  rig.coordinator().Offer(1);
  rig.Start();
  const int pid = std::stoi(rig.AwaitFile("pid"));
  rig.coordinator().Direct(1, v1::Directive::LEASE_LOST);
  EXPECT_TRUE(AwaitDeath(pid));
  rig.coordinator().EndStudy();
  EXPECT_EQ(rig.Join(), 0);
  EXPECT_THAT(rig.coordinator().heard().finishes, IsEmpty());
  EXPECT_THAT(rig.coordinator().heard().releases, IsEmpty());
  EXPECT_EQ(rig.SpoolFiles(), 0);
}

TEST(Agent, ARefusedReportOfALostLeaseKillsTheTraining) {
  Rig rig(
      "note('pid', os.getpid())\nwait_for('go')\nreport(1, 0.5)\n"
      "while True: time.sleep(1)");
  rig.coordinator().Offer(1);
  rig.Start();
  const int pid = std::stoi(rig.AwaitFile("pid"));
  rig.coordinator().Refuse("Report", ErrorId::kLeaseLost);
  std::filesystem::create_directory(rig.File("go"));
  EXPECT_TRUE(AwaitDeath(pid));
}

class StopOrder : public ::testing::TestWithParam<
                      std::pair<v1::Directive::Action, v1::Outcome::Kind>> {};

TEST_P(StopOrder, IsObeyedAndFinishedWithItsKind) {
  Rig rig(kWaitForStop);
  rig.coordinator().Offer(1);
  rig.coordinator().Direct(1, GetParam().first);
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return !heard.finishes.empty(); }));
  const auto outcome = rig.coordinator().heard().finishes[0].outcome();
  EXPECT_EQ(outcome.kind(), GetParam().second);
  EXPECT_EQ(outcome.metrics().at("score"), 0.25);
  // The trainer obeyed, so it was kept.
  EXPECT_TRUE(Lives(std::stoi(rig.AwaitFile("pid"))));
}

TEST_P(StopOrder, EndsATrainerThatDoesNotListen) {
  Rig rig(kNeverStops);
  rig.options().stop_grace = std::chrono::milliseconds(100);
  rig.coordinator().Offer(1);
  rig.Start();
  const int pid = std::stoi(rig.AwaitFile("pid"));
  rig.coordinator().Direct(1, GetParam().first);
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return !heard.finishes.empty(); }));
  EXPECT_EQ(rig.coordinator().heard().finishes[0].outcome().kind(),
            GetParam().second);
  EXPECT_TRUE(AwaitDeath(pid));
}

INSTANTIATE_TEST_SUITE_P(
    All, StopOrder,
    ::testing::Values(
        std::pair(v1::Directive::STOP_PRUNED, v1::Outcome::PRUNED),
        std::pair(v1::Directive::STOP_CANCELLED, v1::Outcome::CANCELLED)));

TEST(Agent, PreemptionHandsTheTrialBackWithItsCheckpoint) {
  Rig rig(R"(report(1, 0.5)
note("pid", os.getpid())
m = next_message()
note("reason", m["reason"])
open(t["folder"] + "/epoch-1", "w").write("state")
say(type="checkpoint", id="epoch-1", step=1)
)");
  rig.coordinator().Offer(1);
  rig.Start();
  rig.AwaitFile("pid");
  rig.Stop(StopLevel::kRelease, kExitRequeue);
  EXPECT_EQ(rig.Join(), 75);
  const Heard heard = rig.coordinator().heard();
  ASSERT_THAT(heard.releases, SizeIs(1));
  EXPECT_EQ(heard.releases[0].reason(), v1::ReleaseRequest::PREEMPTED);
  EXPECT_EQ(heard.releases[0].checkpoint().id(), "1.1.epoch-1");
  EXPECT_EQ(heard.releases[0].checkpoint().bytes(), 5);
  EXPECT_EQ(rig.AwaitFile("reason"), "preempt");
  EXPECT_THAT(heard.finishes, IsEmpty());
  EXPECT_TRUE(std::filesystem::exists(rig.File("runs/trials/s/1/1/epoch-1")));
}

TEST(Agent, ASecondSignalWaitsForNoCheckpoint) {
  Rig rig(kNeverStops);
  rig.coordinator().Offer(1);
  rig.Start();
  rig.AwaitFile("pid");
  rig.Stop(StopLevel::kRelease, kExitInterrupted);
  rig.Stop(StopLevel::kNow, kExitInterrupted);
  EXPECT_EQ(rig.Join(), 130);
  EXPECT_THAT(rig.coordinator().heard().releases, SizeIs(1));
}

TEST(Agent, AnIdleAgentCanBePreemptedToo) {
  Rig rig("pass");
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return !heard.heartbeats.empty(); }));
  rig.Stop(StopLevel::kRelease, kExitRequeue);
  EXPECT_EQ(rig.Join(), 75);
}

TEST(Agent, DrainingReleasesAndTheAgentLives) {
  Rig rig(kWaitForStop);
  rig.coordinator().Offer(1);
  rig.coordinator().Direct(1, v1::Directive::CHECKPOINT_AND_RELEASE);
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return !heard.releases.empty(); }));
  EXPECT_EQ(rig.coordinator().heard().releases[0].reason(),
            v1::ReleaseRequest::DRAINED);
  rig.coordinator().EndStudy();
  EXPECT_EQ(rig.Join(), 0);
}

TEST(Agent, ACrashFailsTheTrialWithItsLogAndTheNextGetsANewTrainer) {
  Rig rig(
      "note('ran' + t['trial'][-1], os.getpid())\n"
      "if t['trial'].endswith('/1'):\n"
      "  print('the end is near', file=sys.stderr, flush=True)\n"
      "  os.abort()\n"
      "finish('succeeded')");
  rig.coordinator().Offer(1);
  rig.coordinator().Offer(2);
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return heard.finishes.size() == 2; }));
  const Heard heard = rig.coordinator().heard();
  EXPECT_EQ(heard.finishes[0].outcome().kind(), v1::Outcome::FAILED);
  EXPECT_EQ(heard.finishes[0].outcome().failure(), v1::FAILURE_CLASS_TRIAL);
  EXPECT_THAT(heard.finishes[0].outcome().cause(), HasSubstr("FL-5003"));
  EXPECT_THAT(heard.finishes[0].outcome().log_tail(),
              HasSubstr("the end is near"));
  EXPECT_EQ(heard.finishes[1].outcome().kind(), v1::Outcome::SUCCEEDED);
}

TEST(Agent, AMistakeOfProtocolFailsTheTrialNamingTheLine) {
  Rig rig("say(type='report', step=1, metric={'score': 1})\ntime.sleep(1000)");
  rig.coordinator().Offer(1);
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return !heard.finishes.empty(); }));
  const auto outcome = rig.coordinator().heard().finishes[0].outcome();
  EXPECT_EQ(outcome.failure(), v1::FAILURE_CLASS_TRIAL);
  EXPECT_THAT(outcome.cause(), HasSubstr("FL-5002: metric is no field"));
}

TEST(Agent, AStepThatDoesNotRiseIsAMistake) {
  Rig rig("report(3, 1)\nreport(3, 1)\ntime.sleep(1000)");
  rig.coordinator().Offer(1);
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return !heard.finishes.empty(); }));
  EXPECT_THAT(rig.coordinator().heard().finishes[0].outcome().cause(),
              HasSubstr("step 3 comes after step 3"));
}

TEST(Agent, ATrainerThatDoesNotExistIsTheNodesFault) {
  Rig rig("pass");
  rig.options().exec = "no-such-trainer-anywhere";
  rig.coordinator().Offer(1);
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return !heard.finishes.empty(); }));
  const auto outcome = rig.coordinator().heard().finishes[0].outcome();
  EXPECT_EQ(outcome.failure(), v1::FAILURE_CLASS_INFRASTRUCTURE);
  EXPECT_THAT(outcome.cause(), HasSubstr("FL-5001"));
}

TEST(Agent, ATrainerForOneTrialIsStartedAgainForEach) {
  Rig rig(
      "finish('succeeded', os.getpid())\nprint('bye', flush=True)\n"
      "time.sleep(0.05)\nos._exit(0)");
  for (int i = 1; i <= 5; ++i) rig.coordinator().Offer(i);
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return heard.finishes.size() == 5; }));
  for (const auto& finish : rig.coordinator().heard().finishes) {
    EXPECT_EQ(finish.outcome().kind(), v1::Outcome::SUCCEEDED);
  }
}

TEST(Agent, SlotsTrainAtTheSameTime) {
  Rig rig(
      "n = t['trial'][-1]\nnote('at' + n, os.environ['FROSTLINE_SLOT'])\n"
      "wait_for('at1')\nwait_for('at2')\nfinish('succeeded')");
  rig.options().slots = 2;
  rig.coordinator().Offer(1);
  rig.coordinator().Offer(2);
  rig.Start();
  EXPECT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return heard.finishes.size() == 2; }));
  EXPECT_NE(rig.AwaitFile("at1"), rig.AwaitFile("at2"));
}

constexpr char kNotesPrefixes[] =
    "note('seen', os.environ.get('FROSTLINE_PREFIX_DIR', '-') + ' ' +\n"
    "     os.environ.get('FROSTLINE_PREFIX_BYTES', '-'))\nfinish('succeeded')";

TEST(Agent, TrainersOfANodeShareAFolderOfItsRuns) {
  Rig rig(kNotesPrefixes);
  rig.coordinator().Offer(1);
  rig.Start();
  const std::string folder = std::filesystem::absolute(rig.options().run_dir);
  EXPECT_EQ(rig.AwaitFile("seen"), folder + "/prefix -");
}

TEST(Agent, TrainersShareTheFolderTheyAreTold) {
  Rig rig(kNotesPrefixes);
  rig.options().prefix_dir = "/scratch/prefix";
  rig.options().prefix_bytes = 4096;
  rig.coordinator().Offer(1);
  rig.Start();
  EXPECT_EQ(rig.AwaitFile("seen"), "/scratch/prefix 4096");
}

TEST(Agent, TrainersKeepNothingOfFrozenLayersWhereThatIsOff) {
  Rig rig(kNotesPrefixes);
  rig.options().prefix_dir = "off";
  rig.coordinator().Offer(1);
  rig.Start();
  EXPECT_EQ(rig.AwaitFile("seen"), "- -");
}

TEST(Agent, AResultTheCoordinatorRefusesBecomesAFailureThatSaysSo) {
  Rig rig("finish('succeeded')");
  rig.coordinator().Refuse("Finish", ErrorId::kObjectiveMissing);
  rig.coordinator().Offer(1);
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return heard.finishes.size() == 2; }));
  const auto outcome = rig.coordinator().heard().finishes[1].outcome();
  EXPECT_EQ(outcome.kind(), v1::Outcome::FAILED);
  EXPECT_THAT(outcome.cause(), HasSubstr("refused the result"));
}

TEST(Agent, EndsWhenIdleForLongEnough) {
  Rig rig("pass");
  rig.options().exit_when_done = false;
  rig.options().idle_timeout = std::chrono::milliseconds(200);
  rig.Start();
  EXPECT_EQ(rig.Join(), 0);
}

TEST(Agent, ASecondAgentOfTheSameIdIsRefused) {
  Rig rig("pass");
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return !heard.registers.empty(); }));
  Agent second(rig.options(), SystemClock());
  EXPECT_EQ(ExitCodeOf(second.Run().status()), kExitUsage);
}

}  // namespace
}  // namespace frostline::agent
