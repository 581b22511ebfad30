// SPDX-License-Identifier: Apache-2.0
//
// The coordinator is away, forgets, or its answers are lost.
#include <algorithm>
#include <filesystem>

#include "gmock/gmock.h"
#include "tests/worker/agent/rig.h"
#include "worker/agent/link/outbox.h"

namespace frostline::agent {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Outage, TrainingGoesOnAndAllIsToldAfterwards) {
  Rig rig(R"(report(1, 0.1)
wait_for("away")
for i in range(2, 6): report(i, 0.1 * i)
finish("succeeded", 0.9)
note("finished", 1)
)");
  rig.coordinator().Offer(1);
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return heard.reports.size() == 1; }));
  rig.coordinator().GoAway();
  std::filesystem::create_directory(rig.File("away"));
  rig.AwaitFile("finished");
  EXPECT_EQ(rig.SpoolFiles(), 1);
  EXPECT_THAT(rig.coordinator().heard().finishes, IsEmpty());
  rig.coordinator().ComeBack();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return !heard.finishes.empty(); }));
  rig.coordinator().EndStudy();
  EXPECT_EQ(rig.Join(), 0);
  const Heard heard = rig.coordinator().heard();
  std::vector<std::int64_t> steps;
  for (const auto& report : heard.reports) {
    for (const auto& m : report.measurements()) steps.push_back(m.step());
  }
  for (const auto& m : heard.finishes[0].measurements()) {
    steps.push_back(m.step());
  }
  // At least once, in order: a report whose answer came late is sent again.
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  EXPECT_EQ(steps, (std::vector<std::int64_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(heard.finishes[0].outcome().metrics().at("score"), 0.9);
  EXPECT_EQ(rig.SpoolFiles(), 0);
}

TEST(Outage, ALostAnswerToAcquireIsAskedForUnderTheSameId) {
  Rig rig("finish('succeeded')");
  rig.coordinator().LoseAnswers("Acquire", 1);
  rig.coordinator().Offer(1);
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return !heard.finishes.empty(); }));
  const Heard heard = rig.coordinator().heard();
  ASSERT_GE(heard.acquires.size(), 2U);
  EXPECT_EQ(heard.acquires[0].SerializeAsString(),
            heard.acquires[1].SerializeAsString());
}

TEST(Outage, LostAnswersToWritesAreAskedForAgainUnchanged) {
  Rig rig("report(1, 0.5)\nwait_for('go')\nfinish('succeeded')");
  rig.coordinator().LoseAnswers("Report", 1);
  rig.coordinator().LoseAnswers("Finish", 2);
  rig.coordinator().Offer(1);
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return heard.reports.size() == 2; }));
  std::filesystem::create_directory(rig.File("go"));
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return heard.finishes.size() == 3; }));
  rig.coordinator().EndStudy();
  EXPECT_EQ(rig.Join(), 0);
  const Heard heard = rig.coordinator().heard();
  EXPECT_EQ(heard.reports[0].sequence(), heard.reports[1].sequence());
  const std::string finish = heard.finishes[0].SerializeAsString();
  for (const auto& repeated : heard.finishes) {
    EXPECT_EQ(repeated.SerializeAsString(), finish);
  }
  EXPECT_EQ(rig.SpoolFiles(), 0);
}

TEST(Outage, HeartbeatsGoOnWhateverTheTrainerDoes) {
  Rig rig(
      "report(7, 0.5)\nnote('pid', 1)\n"
      "while True: print('x' * 100000, flush=True)");
  rig.coordinator().Offer(1);
  rig.Start();
  rig.AwaitFile("pid");
  const std::size_t before = rig.coordinator().heard().heartbeats.size();
  ASSERT_TRUE(rig.coordinator().Await([before](const Heard& heard) {
    return heard.heartbeats.size() >= before + 10;
  }));
  const auto last = rig.coordinator().heard().heartbeats.back();
  ASSERT_THAT(last.leases(), SizeIs(1));
  EXPECT_EQ(last.leases(0).step(), 7);
  EXPECT_EQ(last.leases(0).lease().secret(), "secret-1");
  EXPECT_THAT(rig.coordinator().heard().finishes, IsEmpty());
}

TEST(Outage, ACoordinatorThatForgotTheWorkerIsTold) {
  Rig rig("pass");
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return !heard.heartbeats.empty(); }));
  rig.coordinator().Refuse("Heartbeat", ErrorId::kWorkerUnknown);
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return heard.registers.size() == 2; }));
  const Heard heard = rig.coordinator().heard();
  EXPECT_EQ(heard.registers[0].worker().boot_id(),
            heard.registers[1].worker().boot_id());
  EXPECT_NE(heard.registers[0].request_id(), heard.registers[1].request_id());
}

// As when a coordinator of a version far from its own took over.
TEST(Outage, AWorkerThatIsNotTakenAgainGoes) {
  Rig rig("pass");
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return !heard.heartbeats.empty(); }));
  rig.coordinator().Refuse("Register", ErrorId::kRequestInvalid);
  rig.coordinator().Refuse("Heartbeat", ErrorId::kWorkerUnknown);
  EXPECT_EQ(rig.Join(), kExitUsage);
}

// Two agents of one id on two run folders would take each other's trials for
// ever.
TEST(Outage, AnIdThatIsTakenAgainAndAgainEndsTheAgent) {
  Rig rig("pass");
  rig.Start();
  for (std::size_t i = 1; i <= 4; ++i) {
    ASSERT_TRUE(rig.coordinator().Await(
        [i](const Heard& heard) { return heard.registers.size() >= i; }));
    rig.coordinator().Refuse("Heartbeat", ErrorId::kWorkerUnknown);
  }
  EXPECT_EQ(rig.Join(), kExitConflict);
}

v1::FinishRequest FinishOf(const v1::LeaseRef& lease) {
  v1::FinishRequest finish;
  *finish.mutable_lease() = lease;
  finish.mutable_outcome()->set_kind(v1::Outcome::SUCCEEDED);
  return finish;
}

// As an agent that was killed leaves them.
void LeaveSpool(const Rig& rig, const std::string& agent, int number,
                bool finished) {
  const std::string folder = rig.File("runs/agents/" + agent + "/spool");
  std::filesystem::create_directories(folder);
  v1::LeaseRef lease;
  lease.set_trial("studies/s/trials/" + std::to_string(number));
  lease.set_attempt(1);
  lease.set_secret("old");
  auto file = SpoolFile::Create(folder + "/" + SpoolFileName(lease), lease);
  ASSERT_TRUE(file.ok());
  v1::ReportRequest report;
  *report.mutable_lease() = lease;
  report.set_sequence(1);
  ASSERT_TRUE((*file)->Append(report).ok());
  if (finished) {
    ASSERT_TRUE((*file)->Append(FinishOf(lease)).ok());
  }
}

TEST(EarlierLife, ItsResultsAreToldBeforeItsNextLifeBegins) {
  Rig rig("pass");
  LeaveSpool(rig, "w", 7, true);
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return !heard.registers.empty(); }));
  EXPECT_EQ(rig.coordinator().heard().order[0], "Report");
  EXPECT_EQ(rig.coordinator().heard().order[1], "Finish");
  EXPECT_EQ(rig.coordinator().heard().order[2], "Register");
  EXPECT_EQ(rig.SpoolFiles(), 0);
}

TEST(EarlierLife, AnUnendedAttemptOfItsOwnIsLeftToRegister) {
  Rig rig("pass");
  LeaveSpool(rig, "w", 7, false);
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return !heard.registers.empty(); }));
  EXPECT_THAT(rig.coordinator().heard().reports, SizeIs(1));
  EXPECT_THAT(rig.coordinator().heard().finishes, IsEmpty());
  EXPECT_EQ(rig.SpoolFiles(), 0);
}

TEST(EarlierLife, AnUnendedAttemptOfADeadNeighbourIsEnded) {
  Rig rig("pass");
  LeaveSpool(rig, "neighbour", 7, false);
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return !heard.finishes.empty(); }));
  const auto finish = rig.coordinator().heard().finishes[0];
  EXPECT_EQ(finish.lease().secret(), "old");
  EXPECT_EQ(finish.outcome().failure(), v1::FAILURE_CLASS_INFRASTRUCTURE);
}

TEST(EarlierLife, ARefusedResultIsKeptNotDropped) {
  Rig rig("pass");
  LeaveSpool(rig, "w", 7, true);
  rig.coordinator().Refuse("Finish", ErrorId::kLeaseLost);
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return !heard.registers.empty(); }));
  EXPECT_EQ(rig.SpoolFiles(), 0);
  EXPECT_TRUE(
      std::filesystem::exists(rig.File("runs/agents/w/rejected/s~7~1.spool")));
}

}  // namespace
}  // namespace frostline::agent
