// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/process/trainer_process.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"
#include "tests/worker/agent/rig.h"
#include "worker/agent/process/guardian.h"
#include "worker/agent/process/protocol.h"

namespace frostline::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Duration kPatience = std::chrono::seconds(20);

class TrainerProcessTest : public ::testing::Test {
 protected:
  std::unique_ptr<TrainerProcess> Start(const std::string& command) {
    auto trainer = TrainerProcess::Start({command, {"COLOUR=blue"}}, log_);
    EXPECT_OK(trainer);
    return *std::move(trainer);
  }

  // All lines until the trainer ends, or `count` of them.
  std::vector<std::string> Lines(TrainerProcess& trainer, std::size_t count) {
    std::vector<std::string> lines;
    const SteadyTime end = clock_.Steady() + kPatience;
    while (lines.size() < count && clock_.Steady() < end) {
      auto output = trainer.Wait(wakeup_, kPatience);
      for (auto& line : output.lines) lines.push_back(std::move(line));
      if (output.ended) break;
    }
    return lines;
  }

  SystemClock clock_;
  LogTail log_;
  Wakeup wakeup_;
};

TEST_F(TrainerProcessTest, SpeaksBothWaysInTheGivenEnvironment) {
  const auto trainer =
      Start("sh -c 'read x; echo \"$x $COLOUR\"; echo oh >&2'");
  trainer->Send("hello\n");
  EXPECT_THAT(Lines(*trainer, 9), ElementsAre("hello blue"));
  EXPECT_EQ(DescribeWaitStatus(trainer->wait_status()), "exited with code 0");
  EXPECT_EQ(log_.Text(), "oh\n");
}

TEST_F(TrainerProcessTest, ALastLineMayLackItsNewline) {
  const auto trainer = Start("printf 'one\\ntwo'");
  EXPECT_THAT(Lines(*trainer, 9), ElementsAre("one", "two"));
  EXPECT_TRUE(trainer->ended());
}

TEST_F(TrainerProcessTest, ACommandThatIsNotThereExitsWith127) {
  const auto trainer = Start("no-such-trainer-anywhere");
  EXPECT_THAT(Lines(*trainer, 1), ElementsAre());
  EXPECT_EQ(WEXITSTATUS(trainer->wait_status()), 127);
  EXPECT_THAT(log_.Text(), HasSubstr("no-such-trainer-anywhere"));
}

TEST_F(TrainerProcessTest, WritingToOneThatIsGoneEndsNobodyElse) {
  std::signal(SIGPIPE, SIG_DFL);
  const auto trainer = Start("true");
  EXPECT_THAT(Lines(*trainer, 1), ElementsAre());
  ASSERT_TRUE(trainer->ended());
  trainer->Send("train\n");
  EXPECT_EQ(WEXITSTATUS(trainer->wait_status()), 0);
}

TEST_F(TrainerProcessTest, ACrashIsSeenWithItsSignal) {
  const auto trainer = Start("sh -c 'echo last; kill -SEGV $$'");
  EXPECT_THAT(Lines(*trainer, 9), ElementsAre("last"));
  EXPECT_THAT(DescribeWaitStatus(trainer->wait_status()),
              HasSubstr("killed by signal 11"));
  EXPECT_FALSE(trainer->killed_by_us());
}

TEST_F(TrainerProcessTest, WhatASchedulerTellsAWholeJobEndsNoTrainer) {
  const auto trainer = Start("sh -c 'kill -USR1 $$; kill -USR2 $$; echo here'");
  EXPECT_THAT(Lines(*trainer, 9), ElementsAre("here"));
  EXPECT_EQ(WEXITSTATUS(trainer->wait_status()), 0);
}

TEST_F(TrainerProcessTest, OneThatIgnoresSigtermIsKilledAfterTheGrace) {
  const auto trainer =
      Start("sh -c 'trap \"\" TERM; echo ready; while :; do sleep 1; done'");
  ASSERT_THAT(Lines(*trainer, 1), ElementsAre("ready"));
  trainer->Terminate(std::chrono::milliseconds(100));
  EXPECT_EQ(WTERMSIG(trainer->wait_status()), SIGKILL);
  EXPECT_TRUE(trainer->killed_by_us());
}

TEST_F(TrainerProcessTest, OneThatObeysSigtermMayTidyUp) {
  const auto trainer = Start(
      "sh -c 'trap \"exit 3\" TERM; echo ready; while :; do sleep 0.01; done'");
  ASSERT_THAT(Lines(*trainer, 1), ElementsAre("ready"));
  trainer->Terminate(kPatience);
  EXPECT_EQ(WEXITSTATUS(trainer->wait_status()), 3);
}

TEST_F(TrainerProcessTest, ItsChildrenDieWithIt) {
  const auto trainer = Start("sh -c 'sleep 1000 & echo $!; wait'");
  const auto lines = Lines(*trainer, 1);
  ASSERT_EQ(lines.size(), 1U);
  trainer->Kill();
  EXPECT_FALSE(Lives(std::stoi(lines[0])));
}

// In a session of its own, its parent gone: no group and no parent names it.
constexpr char kStray[] =
    "python3 -c \"import os, sys, time\n"
    "if os.fork(): sys.exit()\n"
    "os.setsid()\n"
    "print(os.getpid(), flush=True)\n"
    "time.sleep(1000)\"";

TEST_F(TrainerProcessTest, WhoLeftItsGroupDiesWithIt) {
  const auto trainer = Start("sh -c '" + std::string(kStray) + "; sleep 1000'");
  const auto lines = Lines(*trainer, 1);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(Lives(std::stoi(lines[0])));
  trainer->Kill();
  EXPECT_TRUE(trainer->ended());
  EXPECT_FALSE(Lives(std::stoi(lines[0])));
}

TEST_F(TrainerProcessTest, WhatItLeavesBehindEndsWithItAndItsStatusCounts) {
  const auto trainer =
      Start("sh -c '" + std::string(kStray) + "; sleep 1000 & read x; exit 3'");
  const auto lines = Lines(*trainer, 1);
  ASSERT_EQ(lines.size(), 1U);
  trainer->Send("go\n");
  EXPECT_THAT(Lines(*trainer, 1), ElementsAre());
  EXPECT_TRUE(trainer->ended());
  EXPECT_EQ(WEXITSTATUS(trainer->wait_status()), 3);
  EXPECT_FALSE(Lives(std::stoi(lines[0])));
}

TEST_F(TrainerProcessTest, IfTheGuardianIsKilledTheTrainerEndsToo) {
  const auto trainer = Start("sh -c 'echo $PPID; sleep 1000 & wait'");
  const auto lines = Lines(*trainer, 1);
  ASSERT_EQ(lines.size(), 1U);
  kill(std::stoi(lines[0]), SIGKILL);
  EXPECT_THAT(Lines(*trainer, 1), ElementsAre());
  EXPECT_TRUE(trainer->ended());
  EXPECT_FALSE(trainer->unkillable());
}

TEST_F(TrainerProcessTest, IfTheGuardianIsKilledWhoLeftTheGroupEndsToo) {
  const auto trainer =
      Start("sh -c 'echo $PPID; " + std::string(kStray) + "; sleep 1000'");
  const auto lines = Lines(*trainer, 2);
  ASSERT_EQ(lines.size(), 2U);
  const auto other = Start("sleep 1000");
  kill(std::stoi(lines[0]), SIGKILL);
  EXPECT_THAT(Lines(*trainer, 1), ElementsAre());
  EXPECT_TRUE(trainer->ended());
  EXPECT_FALSE(trainer->unkillable());
  EXPECT_FALSE(Lives(std::stoi(lines[1])));
  // Its neighbour has a guardian, and goes on.
  EXPECT_FALSE(other->Wait(wakeup_, Duration()).ended);
  EXPECT_TRUE(Lives(other->pid()));
}

// Nobody listens to a trainer that waits for its next trial.
TEST_F(TrainerProcessTest, OrphansAreFoundBeforeTheTrainerIsAskedFor) {
  const auto trainer =
      Start("sh -c 'echo $PPID; " + std::string(kStray) + "; sleep 1000'");
  const auto lines = Lines(*trainer, 2);
  ASSERT_EQ(lines.size(), 2U);
  const pid_t stray = std::stoi(lines[1]);
  Orphans::Ours().Look();
  EXPECT_TRUE(Lives(stray));  // its guardian lives
  kill(std::stoi(lines[0]), SIGKILL);
  const SteadyTime end = clock_.Steady() + kPatience;
  while (Lives(stray) && clock_.Steady() < end) Orphans::Ours().Look();
  EXPECT_FALSE(Lives(stray));
  trainer->Kill();
  EXPECT_TRUE(trainer->ended());
}

TEST_F(TrainerProcessTest, AStoppedGuardianMakesNobodyUnkillable) {
  const auto trainer = Start("sh -c 'echo $PPID; sleep 1000 & wait'");
  const auto lines = Lines(*trainer, 1);
  ASSERT_EQ(lines.size(), 1U);
  kill(std::stoi(lines[0]), SIGSTOP);
  trainer->Kill();
  EXPECT_TRUE(trainer->ended());
  EXPECT_FALSE(trainer->unkillable());
  EXPECT_FALSE(Lives(trainer->pid()));
}

TEST_F(TrainerProcessTest, OneThatCannotBeKilledIsNotWaitedFor) {
  const auto trainer = Start("sh -c 'echo ready; sleep 1000'");
  ASSERT_THAT(Lines(*trainer, 1), ElementsAre("ready"));
  const pid_t pid = trainer->pid();
  const Undying undying(pid);
  if (!undying.works()) GTEST_SKIP() << "ptrace(2) is not allowed here";
  const SteadyTime start = clock_.Steady();
  trainer->Terminate(Duration());
  EXPECT_TRUE(trainer->unkillable());
  EXPECT_FALSE(trainer->ended());
  EXPECT_EQ(trainer->pid(), pid);
  trainer->Terminate(std::chrono::hours(1));  // nobody waits again
  EXPECT_LT(clock_.Steady() - start, kPatience / 2);
}

// The trainer itself has ended; nobody has told the guardian to kill.
TEST_F(TrainerProcessTest, WhatItLeftThatCannotBeKilledIsNamed) {
  const auto trainer = Start("sh -c 'sleep 1000 & echo $!; read x; exit 0'");
  const auto lines = Lines(*trainer, 1);
  ASSERT_EQ(lines.size(), 1U);
  const Undying undying(std::stoi(lines[0]));
  if (!undying.works()) GTEST_SKIP() << "ptrace(2) is not allowed here";
  trainer->Send("go\n");
  const SteadyTime end = clock_.Steady() + kPatience;
  while (!trainer->unkillable() && clock_.Steady() < end) {
    EXPECT_FALSE(trainer->Wait(wakeup_, kPatience).ended);
  }
  EXPECT_TRUE(trainer->unkillable());
  EXPECT_EQ(trainer->pid(), std::stoi(lines[0]));
}

TEST_F(TrainerProcessTest, OneThatClosesItsOutputAndLivesIsKilled) {
  const auto trainer = Start("sh -c 'exec >&-; while :; do sleep 1; done'");
  EXPECT_THAT(Lines(*trainer, 1), ElementsAre());
  EXPECT_TRUE(trainer->ended());
}

TEST_F(TrainerProcessTest, AnEndlessLineIsNotSwallowed) {
  const auto trainer =
      Start("sh -c 'head -c 3000000 /dev/zero | tr \"\\0\" x; sleep 1000'");
  bool overlong = false;
  const SteadyTime end = clock_.Steady() + kPatience;
  while (!overlong && clock_.Steady() < end) {
    const auto output = trainer->Wait(wakeup_, kPatience);
    EXPECT_THAT(output.lines, ElementsAre());
    overlong = output.overlong;
  }
  EXPECT_TRUE(overlong);
}

TEST_F(TrainerProcessTest, AMessageLargerThanThePipeArrives) {
  const auto trainer = Start("sh -c 'sleep 0.2; wc -c'");
  trainer->Send(std::string(500'000, 'x') + "\n");
  trainer->CloseInput();
  EXPECT_THAT(Lines(*trainer, 1), ElementsAre("500001"));
}

TEST_F(TrainerProcessTest, ManyLinesComeWholeAndInOrder) {
  const auto trainer = Start("seq 1 200000");
  const auto lines = Lines(*trainer, 1'000'000);
  ASSERT_EQ(lines.size(), 200'000U);
  EXPECT_EQ(lines[123'456], "123457");
  EXPECT_EQ(lines.back(), "200000");
}

TEST_F(TrainerProcessTest, TheLogKeepsItsEndAsText) {
  const auto trainer =
      Start("sh -c 'seq 1 100000 >&2; printf \"\\377 the end\" >&2'");
  Lines(*trainer, 1);
  const std::string text = log_.Text();
  EXPECT_LE(text.size(), kMaxLogTailBytes);
  EXPECT_GE(text.size(), kMaxLogTailBytes / 2);
  EXPECT_THAT(text, HasSubstr("100000\n? the end"));
}

TEST_F(TrainerProcessTest, ARingEndsTheWait) {
  const auto trainer = Start("sleep 1000");
  const SteadyTime start = clock_.Steady();
  wakeup_.Ring();
  trainer->Wait(wakeup_, kPatience);
  EXPECT_LT(clock_.Steady() - start, kPatience / 2);
}

// An agent that is killed cannot clean up; the guardian does.
TEST_F(TrainerProcessTest, DiesWithItsAgent) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t agent = fork();
  if (agent == 0) {
    auto trainer = TrainerProcess::Start({"sleep 1000", {}}, log_);
    const pid_t pid = (*trainer)->pid();
    [[maybe_unused]] const ssize_t sent = write(ends[1], &pid, sizeof(pid));
    pause();
  }
  pid_t trainer = 0;
  ASSERT_EQ(read(ends[0], &trainer, sizeof(trainer)),
            static_cast<ssize_t>(sizeof(trainer)));
  ASSERT_EQ(kill(trainer, 0), 0);
  kill(agent, SIGKILL);
  waitpid(agent, nullptr, 0);
  const SteadyTime end = clock_.Steady() + kPatience;
  while (Lives(trainer) && clock_.Steady() < end) std::this_thread::yield();
  EXPECT_FALSE(Lives(trainer));
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace frostline::agent
