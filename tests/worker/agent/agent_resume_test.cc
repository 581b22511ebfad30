// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "tests/worker/agent/rig.h"
#include "worker/agent/link/outbox.h"

namespace frostline::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// What becomes of an attempt's files, and what the next attempt has of them.

// What a trainer was told of a checkpoint that is not there.
auto NamesNoPath() {
  return ::testing::AllOf(HasSubstr("epoch-3"), Not(HasSubstr("path")));
}

bool AwaitFinishes(Rig& rig, std::size_t count) {
  return rig.coordinator().Await(
      [count](const Heard& heard) { return heard.finishes.size() == count; });
}

// Writes a checkpoint, as trial 1, and tells what it was given as any other.
constexpr char kTrainer[] = R"(n = t["trial"].split("/")[-1]
if t["resume_from"] is None:
    open(t["folder"] + "/epoch-3", "w").write("state")
    say(type="checkpoint", id="epoch-3", step=3)
else:
    note("resume" + n, json.dumps(t["resume_from"]))
finish("succeeded")
)";

v1::Lease Resuming(Rig& rig, int number, std::int64_t attempt) {
  v1::Lease lease = ScriptedCoordinator::LeaseOf(number, attempt);
  *lease.mutable_resume_from() =
      rig.coordinator().heard().finishes[0].outcome().checkpoint();
  return lease;
}

TEST(Resume, ARetryUnderAnotherNumberGoesOnFromTheCheckpoint) {
  Rig rig(kTrainer);
  rig.coordinator().Offer(1);
  rig.Start();
  ASSERT_TRUE(AwaitFinishes(rig, 1));
  rig.coordinator().Offer(Resuming(rig, 9, 1));
  rig.coordinator().Offer(Resuming(rig, 1, 2));
  const std::string retry = rig.AwaitFile("resume9");
  EXPECT_THAT(retry, HasSubstr("/trials/s/1/1/epoch-3\""));
  EXPECT_THAT(retry, HasSubstr("\"id\": \"epoch-3\""));
  EXPECT_THAT(rig.AwaitFile("resume1"), HasSubstr("/trials/s/1/1/epoch-3\""));
}

TEST(Resume, AHarmedCheckpointIsNotUsedAndTheLogSaysSo) {
  Rig rig(kTrainer);
  rig.coordinator().Offer(1);
  rig.Start();
  ASSERT_TRUE(AwaitFinishes(rig, 1));
  v1::Lease lease = Resuming(rig, 1, 2);
  lease.mutable_resume_from()->set_sha256(std::string(64, '0'));
  rig.coordinator().Offer(lease);
  EXPECT_THAT(rig.AwaitFile("resume1"), NamesNoPath());
  std::ifstream log(rig.File("runs/trials/s/1/2.log"));
  std::string line;
  std::getline(log, line);
  EXPECT_THAT(line, HasSubstr("begins anew, without the checkpoint"));
}

TEST(Resume, ACheckpointOfAnotherNodeIsNamedWithoutAPath) {
  Rig rig(kTrainer);
  v1::Lease lease = ScriptedCoordinator::LeaseOf(5, 2);
  lease.mutable_resume_from()->set_id("5.1.epoch-3");
  rig.coordinator().Offer(lease);
  rig.Start();
  EXPECT_THAT(rig.AwaitFile("resume5"), NamesNoPath());
}

// A hook that copies to and from `store` of the rig, and notes its words.
void WriteHook(Rig& rig, const std::string& body) {
  const std::string path = rig.File("hook");
  std::ofstream(path) << "#!/bin/sh\nset -e\nS=" << rig.File("store")
                      << "\necho \"$1 $2\" >>" << rig.File("words") << "\n"
                      << body << "\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  rig.options().checkpoint_hook.program = path;
}
constexpr char kCopy[] =
    "case $1 in save) mkdir -p $S; cp $3 $S/x ;; fetch) cp $S/x $3 ;; esac";

v1::Lease OfAnotherNode(std::int64_t attempt) {
  v1::Lease lease = ScriptedCoordinator::LeaseOf(5, attempt);
  lease.mutable_resume_from()->set_id("5.1.epoch-3");
  return lease;
}

TEST(Hook, FetchesWhatAnotherNodeHasSaved) {
  Rig rig(kTrainer);
  WriteHook(rig, kCopy);
  std::filesystem::create_directory(rig.File("store"));
  std::ofstream(rig.File("store/x")) << "state";
  rig.coordinator().Offer(OfAnotherNode(2));
  rig.Start();
  EXPECT_THAT(rig.AwaitFile("resume5"), HasSubstr("/trials/s/5/1/epoch-3\""));
  EXPECT_THAT(rig.AwaitFile("words"), HasSubstr("fetch s/5/1/epoch-3"));
}

TEST(Hook, ThatFailsIsTheNodesFaultAndThenTheTrialBeginsAnew) {
  Rig rig(kTrainer);
  WriteHook(rig, "exit 3");
  rig.coordinator().Offer(OfAnotherNode(2));
  rig.Start();
  ASSERT_TRUE(AwaitFinishes(rig, 1));
  const v1::Outcome outcome = rig.coordinator().heard().finishes[0].outcome();
  EXPECT_EQ(outcome.failure(), v1::FAILURE_CLASS_INFRASTRUCTURE);
  EXPECT_THAT(outcome.cause(), HasSubstr("fetch ended with code 3"));
  rig.coordinator().Offer(OfAnotherNode(5));  // the hook had its attempts
  EXPECT_THAT(rig.AwaitFile("resume5"), NamesNoPath());
}

TEST(Hook, ThatIsKilledHasNotFetched) {
  Rig rig(kTrainer);
  WriteHook(rig, "echo state >$3; kill -9 $$");
  rig.coordinator().Offer(OfAnotherNode(2));
  rig.Start();
  ASSERT_TRUE(AwaitFinishes(rig, 1));
  const v1::Outcome outcome = rig.coordinator().heard().finishes[0].outcome();
  EXPECT_EQ(outcome.failure(), v1::FAILURE_CLASS_INFRASTRUCTURE);
  EXPECT_THAT(outcome.cause(), HasSubstr("fetch was ended by signal 9"));
}

// An agent that is killed meanwhile leaves nothing that looks like a
// checkpoint.
TEST(Hook, FetchesBesideThePlaceOfTheCheckpoint) {
  Rig rig(kTrainer);
  WriteHook(rig, "echo state >$3; ls ${3%/*} >$S.seen");
  rig.coordinator().Offer(OfAnotherNode(2));
  rig.Start();
  EXPECT_THAT(rig.AwaitFile("resume5"), HasSubstr("/trials/s/5/1/epoch-3\""));
  EXPECT_EQ(rig.AwaitFile("store.seen"), "epoch-3.part\n");
}

// Writes a checkpoint and trains until it is stopped.
constexpr char kEndless[] =
    R"(open(t["folder"] + "/epoch-3", "w").write("state")
say(type="checkpoint", id="epoch-3", step=3)
note("trains", "1")
next_message()
finish("stopped")
)";

TEST(Hook, SavesTheCheckpointBeforeTheTrialIsHandedBack) {
  Rig rig(kEndless);
  WriteHook(rig, kCopy);
  rig.coordinator().Offer(1);
  rig.Start();
  rig.AwaitFile("trains");
  rig.Stop(StopLevel::kRelease, kExitRequeue);
  EXPECT_EQ(rig.Join(), kExitRequeue);
  EXPECT_THAT(rig.AwaitFile("words"), HasSubstr("save s/1/1/epoch-3"));
  EXPECT_TRUE(std::filesystem::exists(rig.File("store/x")));
  EXPECT_EQ(rig.coordinator().heard().releases[0].detail(), "preempt");
}

TEST(Hook, ThatHangsIsKilledAndTheTrialIsHandedBackAllTheSame) {
  Rig rig(kEndless);
  WriteHook(rig, "sleep 600");
  rig.options().checkpoint_hook.limit = std::chrono::milliseconds(300);
  rig.coordinator().Offer(1);
  rig.Start();
  rig.AwaitFile("trains");
  rig.Stop(StopLevel::kRelease, kExitRequeue);
  EXPECT_EQ(rig.Join(), kExitRequeue);
  const auto releases = rig.coordinator().heard().releases;
  ASSERT_EQ(releases.size(), 1U);
  EXPECT_THAT(releases[0].detail(), HasSubstr("took longer than its limit"));
  EXPECT_EQ(releases[0].checkpoint().id(), "1.1.epoch-3");
}

TEST(Hook, IsNotBegunAfterASecondSignal) {
  Rig rig(kEndless);
  WriteHook(rig, kCopy);
  rig.coordinator().Offer(1);
  rig.Start();
  rig.AwaitFile("trains");
  rig.Stop(StopLevel::kNow, kExitRequeue);
  EXPECT_EQ(rig.Join(), kExitRequeue);
  EXPECT_FALSE(std::filesystem::exists(rig.File("words")));
  const auto releases = rig.coordinator().heard().releases;
  ASSERT_EQ(releases.size(), 1U);
  EXPECT_EQ(releases[0].checkpoint().id(), "1.1.epoch-3");
  EXPECT_THAT(releases[0].detail(), Not(HasSubstr("hook")));
}

TEST(Hook, IsEndedByASecondSignal) {
  Rig rig(kEndless);
  WriteHook(rig, "sleep 600");
  rig.options().checkpoint_hook.limit = std::chrono::minutes(10);
  rig.coordinator().Offer(1);
  rig.Start();
  rig.AwaitFile("trains");
  rig.Stop(StopLevel::kRelease, kExitRequeue);
  EXPECT_THAT(rig.AwaitFile("words"), HasSubstr("save"));
  rig.Stop(StopLevel::kNow, kExitRequeue);
  EXPECT_EQ(rig.Join(), kExitRequeue);
  const auto releases = rig.coordinator().heard().releases;
  ASSERT_EQ(releases.size(), 1U);
  EXPECT_THAT(releases[0].detail(), HasSubstr("was ended by a second signal"));
}

TEST(TrialLog, HoldsWhatTheTrainerSaysBesidesMessages) {
  Rig rig(
      "print('to stdout', flush=True)\nprint('to stderr', file=sys.stderr)\n"
      "finish('failed')");
  rig.coordinator().Offer(1);
  rig.Start();
  ASSERT_TRUE(AwaitFinishes(rig, 1));
  std::ifstream log(rig.File("runs/trials/s/1/1.log"));
  const std::string text((std::istreambuf_iterator<char>(log)), {});
  EXPECT_THAT(text, HasSubstr("to stdout\n"));
  EXPECT_THAT(text, HasSubstr("to stderr\n"));
}

class KeepPolicies : public ::testing::TestWithParam<
                         std::tuple<KeepPolicy, std::string, bool, bool>> {};

TEST_P(KeepPolicies, DecidesWhatStaysOfAnEndedTrial) {
  const auto& [policy, state, checkpoint, stays] = GetParam();
  Rig rig("open(t['folder'] + '/scratch', 'w').write('x')\n" +
          std::string(checkpoint ? "say(type='checkpoint', id='scratch', "
                                   "step=1)\n"
                                 : "") +
          "finish('" + state + "')");
  rig.options().keep.policy = policy;
  rig.coordinator().Offer(1);
  rig.Start();
  ASSERT_TRUE(AwaitFinishes(rig, 1));
  rig.coordinator().EndStudy();
  EXPECT_EQ(rig.Join(), 0);
  EXPECT_EQ(std::filesystem::exists(rig.File("runs/trials/s/1/1/scratch")),
            stays);
  EXPECT_EQ(std::filesystem::exists(rig.File("runs/trials/s/1")), stays);
}

INSTANTIATE_TEST_SUITE_P(
    All, KeepPolicies,
    ::testing::Values(std::tuple(KeepPolicy::kAll, "succeeded", false, true),
                      std::tuple(KeepPolicy::kUseful, "succeeded", false,
                                 false),
                      std::tuple(KeepPolicy::kUseful, "succeeded", true, true),
                      std::tuple(KeepPolicy::kUseful, "failed", false, true),
                      std::tuple(KeepPolicy::kFailed, "succeeded", true, false),
                      std::tuple(KeepPolicy::kFailed, "failed", false, true),
                      std::tuple(KeepPolicy::kNone, "failed", true, false)));

TEST(Keep, AtItsStartTheAgentRemovesWhatIsTooMuch) {
  Rig rig("pass");
  const std::string old = rig.File("runs/trials/s/4");
  std::filesystem::create_directories(old + "/1");
  std::ofstream(old + "/ended") << "ended failed\n";
  std::ofstream(old + "/1/epoch-1") << std::string(10'000, 'x');
  rig.options().keep.most_bytes = 5'000;
  rig.Start();
  for (int i = 0; i < 2000 && std::filesystem::exists(old); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_FALSE(std::filesystem::exists(old));
}

// The coordinator is away, forgets, or its answers are lost.

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

// frostline-worker itself: signals, exit codes, and death without warning.

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
