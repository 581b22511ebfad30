// SPDX-License-Identifier: Apache-2.0
//
// frostline-worker itself: signals, exit codes, and death without warning.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "gmock/gmock.h"
#include "tests/worker/agent/rig.h"

namespace frostline::agent {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string Binary(const std::string& name) {
  return std::string(std::getenv("FROSTLINE_BIN_DIR")) + "/" + name;
}

// The program, started with these arguments.
pid_t Launch(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), Binary("frostline-worker"));
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    execv(pointers[0], pointers.data());
    _exit(99);
  }
  return pid;
}

int ExitCodeOfProcess(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

// A rig whose own agent is not started: the program takes its place.
pid_t RunBeside(Rig& rig) {
  return Launch({"--connect", rig.coordinator().address(), "--id", "w",
                 "--study", "s", "--exit-when-done", "--run-dir",
                 rig.options().run_dir, "--exec", rig.options().exec,
                 "--log-level", "warning"});
}

constexpr char kTrainsUntilStopped[] = R"(report(1, 0.5)
note("pid", os.getpid())
next_message()
finish("stopped")
)";

class Signal : public ::testing::TestWithParam<std::pair<int, int>> {};

TEST_P(Signal, HandsTheTrialBackAndEndsWithItsCode) {
  Rig rig(kTrainsUntilStopped);
  rig.coordinator().Offer(1);
  const pid_t agent = RunBeside(rig);
  const int trainer = std::stoi(rig.AwaitFile("pid"));
  kill(agent, GetParam().first);
  EXPECT_EQ(ExitCodeOfProcess(agent), GetParam().second);
  EXPECT_THAT(rig.coordinator().heard().releases, SizeIs(1));
  EXPECT_FALSE(Lives(trainer));
}

INSTANTIATE_TEST_SUITE_P(All, Signal,
                         ::testing::Values(std::pair(SIGTERM, 75),
                                           std::pair(SIGUSR1, 75),
                                           std::pair(SIGINT, 130)));

TEST(AgentBinary, AtSigusr2ItFinishesWhatRunsAndTakesNothingMore) {
  Rig rig(
      "note('pid', os.getpid())\nwait_for('told')\n"
      "finish('succeeded', 0.75)");
  rig.coordinator().Offer(2);
  const pid_t agent = RunBeside(rig);
  const int trainer = std::stoi(rig.AwaitFile("pid"));
  kill(agent, SIGUSR2);
  kill(trainer, SIGUSR2);  // Slurm tells every process of a job
  std::filesystem::create_directory(rig.File("told"));
  EXPECT_EQ(ExitCodeOfProcess(agent), 0);
  const Heard heard = rig.coordinator().heard();
  ASSERT_THAT(heard.finishes, SizeIs(1));
  EXPECT_EQ(heard.finishes[0].outcome().kind(), v1::Outcome::SUCCEEDED);
  EXPECT_THAT(heard.releases, IsEmpty());
}

TEST(AgentBinary, KilledWhileTheCoordinatorIsAwayItLosesNothing) {
  Rig rig(
      "report(1, 0.5)\nwait_for('away')\nfinish('succeeded', 0.75)\n"
      "note('pid', os.getpid())");
  rig.coordinator().Offer(1);
  pid_t agent = RunBeside(rig);
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return !heard.reports.empty(); }));
  rig.coordinator().GoAway();
  std::filesystem::create_directory(rig.File("away"));
  const int trainer = std::stoi(rig.AwaitFile("pid"));
  // The finish is in the pipe; the agent spools it within moments.
  const auto spooled = [&rig] {
    for (const auto& entry : std::filesystem::directory_iterator(
             rig.options().run_dir + "/agents/w/spool")) {
      if (entry.file_size() > 300) return true;
    }
    return false;
  };
  for (int i = 0; i < 2000 && !spooled(); ++i) usleep(1000);
  kill(agent, SIGKILL);
  EXPECT_EQ(ExitCodeOfProcess(agent), 1000 + SIGKILL);
  EXPECT_TRUE(AwaitDeath(trainer));
  rig.coordinator().ComeBack();
  rig.coordinator().EndStudy();
  agent = RunBeside(rig);
  EXPECT_EQ(ExitCodeOfProcess(agent), 0);
  const Heard heard = rig.coordinator().heard();
  ASSERT_THAT(heard.finishes, SizeIs(1));
  EXPECT_EQ(heard.finishes[0].outcome().metrics().at("score"), 0.75);
  EXPECT_EQ(rig.SpoolFiles(), 0);
}

// A script's training is no child of the agent, and may have left its group.
class Grandchild : public ::testing::TestWithParam<std::string> {};

TEST_P(Grandchild, TrainsNoLongerThanTheAgentLives) {
  Rig rig(GetParam() + R"(report(1, 0.5)
note("pid", os.getpid())
while True: time.sleep(0.1)
)");
  rig.options().exec =
      "sh -c 'exec 3<&0; " + rig.options().exec + " <&3 & sleep 1000'";
  rig.coordinator().Offer(1);
  const pid_t agent = RunBeside(rig);
  const int training = std::stoi(rig.AwaitFile("pid"));
  EXPECT_TRUE(Lives(training));
  kill(agent, SIGKILL);
  EXPECT_EQ(ExitCodeOfProcess(agent), 1000 + SIGKILL);
  EXPECT_TRUE(AwaitDeath(training));
}

INSTANTIATE_TEST_SUITE_P(InAnyGroup, Grandchild,
                         ::testing::Values("", "os.setsid()\n",
                                           "if os.fork(): os._exit(0)\n"));

TEST(AgentBinary, TrainsWithTheDemoTrainer) {
  Rig rig("pass");
  rig.options().exec = Binary("frostline-demo-trainer");
  rig.coordinator().Offer(1);
  v1::Lease lease = ScriptedCoordinator::LeaseOf(2);
  lease.mutable_spec()->mutable_objectives(0)->set_metric("accuracy");
  rig.coordinator().Offer(lease);
  const pid_t agent = RunBeside(rig);
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return heard.finishes.size() == 2; }));
  rig.coordinator().EndStudy();
  EXPECT_EQ(ExitCodeOfProcess(agent), 0);
  const Heard heard = rig.coordinator().heard();
  // The first study asks for a metric that the demo trainer does not have.
  EXPECT_EQ(heard.finishes[0].outcome().kind(), v1::Outcome::FAILED);
  EXPECT_EQ(heard.finishes[1].outcome().kind(), v1::Outcome::SUCCEEDED);
}

TEST(AgentBinary, WithoutATrainerItSaysWhatIsMissing) {
  EXPECT_EQ(ExitCodeOfProcess(Launch({"--id", "w"})), 2);
}

TEST(AgentBinary, AnUnreachableCoordinatorIsCode7WhenItMayNotWait) {
  Rig rig("pass");
  const std::string address = rig.coordinator().address();
  rig.coordinator().GoAway();
  EXPECT_EQ(ExitCodeOfProcess(Launch({"--connect", address, "--exec", "true",
                                      "--idle-timeout", "0.2", "--run-dir",
                                      rig.options().run_dir})),
            7);
}

}  // namespace
}  // namespace frostline::agent
