// SPDX-License-Identifier: Apache-2.0
//
// What becomes of an attempt's files, and what the next attempt has of them.
#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "tests/worker/agent/rig.h"

namespace frostline::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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

}  // namespace
}  // namespace frostline::agent
