// SPDX-License-Identifier: Apache-2.0
//
// Trainers that hang, leases that nobody renews, slots that share a node, and a
// grant that crosses a stop.
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>

#include "gmock/gmock.h"
#include "tests/worker/agent/rig.h"

namespace frostline::agent {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

bool AwaitFinish(Rig& rig) {
  return rig.coordinator().Await(
      [](const Heard& heard) { return !heard.finishes.empty(); });
}

TEST(Hang, ATrainerWithoutProgressIsKilledAndItsTrialHasFailed) {
  Rig rig(R"(report(1, 0.5)
note("pid", os.getpid())
while True: print("still here", flush=True); time.sleep(0.02)
)");
  rig.options().hang_after = milliseconds(300);
  rig.options().stop_grace = milliseconds(100);
  rig.coordinator().Offer(1);
  rig.Start();
  ASSERT_TRUE(AwaitFinish(rig));
  const v1::Outcome outcome = rig.coordinator().heard().finishes[0].outcome();
  EXPECT_EQ(outcome.kind(), v1::Outcome::FAILED);
  EXPECT_EQ(outcome.failure(), v1::FAILURE_CLASS_TRIAL);
  EXPECT_THAT(outcome.cause(), StartsWith("no progress for "));
  EXPECT_THAT(outcome.cause(), HasSubstr("(suspected hang)"));
  EXPECT_THAT(outcome.log_tail(), HasSubstr("still here"));
  EXPECT_TRUE(AwaitDeath(std::stoi(rig.AwaitFile("pid"))));
}

TEST(Hang, ATrainerIsAskedFirstAndMayStillFinish) {
  Rig rig(R"(report(1, 0.5)
note("reason", next_message()["reason"])
finish("succeeded", 0.75)
)");
  rig.options().hang_after = milliseconds(100);
  rig.coordinator().Offer(1);
  rig.Start();
  ASSERT_TRUE(AwaitFinish(rig));
  EXPECT_EQ(rig.AwaitFile("reason"), "hang");
  EXPECT_EQ(rig.coordinator().heard().finishes[0].outcome().kind(),
            v1::Outcome::SUCCEEDED);
}

TEST(Hang, OneThatObeysHasFailedWithItsCheckpoint) {
  Rig rig(R"(report(1, 0.5)
next_message()
open(t["folder"] + "/epoch-1", "w").write("state")
say(type="checkpoint", id="epoch-1", step=1)
finish("stopped")
)");
  rig.options().hang_after = milliseconds(100);
  rig.coordinator().Offer(1);
  rig.Start();
  ASSERT_TRUE(AwaitFinish(rig));
  const v1::Outcome outcome = rig.coordinator().heard().finishes[0].outcome();
  EXPECT_EQ(outcome.kind(), v1::Outcome::FAILED);
  EXPECT_EQ(outcome.checkpoint().id(), "1.1.epoch-1");
}

// The TTL of the scripted coordinator is half a second.
TEST(Orphan, AfterTheLimitItCheckpointsAndWaits) {
  Rig rig(R"(report(1, 0.5)
note("up", 1)
m = next_message()
open(t["folder"] + "/epoch-1", "w").write("state")
say(type="checkpoint", id="epoch-1", step=1)
note("reason", m["reason"])
)");
  rig.options().orphan_limit = milliseconds(300);
  rig.coordinator().Offer(1);
  rig.Start();
  rig.AwaitFile("up");
  rig.coordinator().GoAway();
  EXPECT_EQ(rig.AwaitFile("reason"), "preempt");
  EXPECT_THAT(rig.coordinator().heard().releases, IsEmpty());
  EXPECT_EQ(rig.SpoolFiles(), 1);
  rig.coordinator().ComeBack();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return !heard.releases.empty(); }));
  const auto release = rig.coordinator().heard().releases[0];
  EXPECT_EQ(release.reason(), v1::ReleaseRequest::PREEMPTED);
  EXPECT_EQ(release.checkpoint().id(), "1.1.epoch-1");
  EXPECT_THAT(release.detail(), HasSubstr("no word"));
}

TEST(Orphan, WithinTheLimitItTrainsOn) {
  Rig rig(
      "note('up', 1)\nwait_for('go')\nfinish('succeeded')\nnote('done', 1)");
  rig.coordinator().Offer(1);
  rig.Start();
  rig.AwaitFile("up");
  rig.coordinator().GoAway();
  std::this_thread::sleep_for(milliseconds(700));  // an orphan by now
  std::filesystem::create_directory(rig.File("go"));
  rig.AwaitFile("done");
  rig.coordinator().ComeBack();
  EXPECT_TRUE(AwaitFinish(rig));
}

// What trainers of two slots really see.
TEST(Slots, DivideGpusAndCores) {
  Rig rig(R"(n = t["trial"][-1]
note("seen" + n, " ".join(os.environ.get(k, "-") for k in
     ["CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "FROSTLINE_SLOT"]) + " " +
     os.environ["OMP_NUM_THREADS"])
wait_for("seen1")
wait_for("seen2")
finish("succeeded")
)");
  for (const char* bus : {"gpus/0000:18:00.0", "gpus/0000:5d:00.0"}) {
    std::filesystem::create_directories(rig.File(bus));
  }
  unsetenv("CUDA_VISIBLE_DEVICES");
  unsetenv("CUDA_DEVICE_ORDER");
  unsetenv("OMP_NUM_THREADS");
  rig.options().slots = 2;
  rig.coordinator().Offer(1);
  rig.coordinator().Offer(2);
  rig.Start();
  const std::set<std::string> seen = {rig.AwaitFile("seen1"),
                                      rig.AwaitFile("seen2")};
  const std::string share =
      std::to_string(std::max(1U, std::thread::hardware_concurrency() / 2));
  EXPECT_THAT(
      seen, ElementsAre("0 PCI_BUS_ID 0 " + share, "1 PCI_BUS_ID 1 " + share));
  EXPECT_EQ(rig.coordinator().heard().registers[0].worker().slots(), 2);
  EXPECT_EQ(
      rig.coordinator().heard().registers[0].worker().hardware().gpus_size(),
      2);
}

// One trial, one lease, both GPUs.
TEST(Slots, AreAsWideAsAsked) {
  Rig rig(R"(note("seen", os.environ["CUDA_VISIBLE_DEVICES"])
finish("succeeded")
)");
  for (const char* bus : {"gpus/0000:18:00.0", "gpus/0000:5d:00.0"}) {
    std::filesystem::create_directories(rig.File(bus));
  }
  unsetenv("CUDA_VISIBLE_DEVICES");
  rig.options().slot_per_gpu = true;
  rig.options().gpus_per_slot = 2;
  rig.coordinator().Offer(1);
  rig.Start();
  EXPECT_EQ(rig.AwaitFile("seen"), "0,1");
  const v1::Worker told = rig.coordinator().heard().registers[0].worker();
  EXPECT_EQ(told.slots(), 1);
  EXPECT_EQ(told.hardware().gpus_size(), 2);
}

TEST(Slots, NoMoreLeasesThanFreeSlots) {
  Rig rig("note('up', 1)\nwait_for('go')\nfinish('succeeded')");
  rig.coordinator().Offer(1);
  rig.coordinator().Offer(2);
  rig.Start();
  rig.AwaitFile("up");
  // Ten beats later it still has one, and has not asked for a second.
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return heard.heartbeats.size() >= 10; }));
  const Heard heard = rig.coordinator().heard();
  ASSERT_THAT(heard.acquires, SizeIs(1));
  EXPECT_EQ(heard.acquires[0].max_leases(), 1);
  for (const auto& beat : heard.heartbeats) EXPECT_LE(beat.leases_size(), 1);
  std::filesystem::create_directory(rig.File("go"));
  EXPECT_TRUE(rig.coordinator().Await(
      [](const Heard& all) { return all.finishes.size() == 2; }));
}

class GrantTooLate : public ::testing::TestWithParam<StopLevel> {};

TEST_P(GrantTooLate, IsHandedBackUnrun) {
  Rig rig("pass");
  rig.Start();
  rig.coordinator().GrantUnanswered(1);
  rig.Stop(GetParam(), kExitRequeue);
  EXPECT_EQ(rig.Join(), kExitRequeue);
  const Heard heard = rig.coordinator().heard();
  ASSERT_THAT(heard.releases, SizeIs(1));
  EXPECT_EQ(heard.releases[0].reason(), v1::ReleaseRequest::UNRUN);
  EXPECT_EQ(heard.releases[0].lease().secret(), "secret-1");
  // The one that was given up is heard of when its end is noticed.
  for (const auto& acquire : heard.acquires) {
    EXPECT_EQ(acquire.request_id(), heard.acquires[0].request_id());
  }
  EXPECT_EQ(rig.SpoolFiles(), 0);
}

INSTANTIATE_TEST_SUITE_P(All, GrantTooLate,
                         ::testing::Values(StopLevel::kDone,
                                           StopLevel::kRelease));

// Trial 1 breaks the protocol and is killed for it; others succeed.
constexpr char kOffends[] = R"(if t["trial"].endswith("/1"):
    note("pid", os.getpid())
    wait_for("go")
    say(type="nonsense")
    time.sleep(1000)
finish("succeeded")
)";

class Unkillable : public ::testing::Test {
 protected:
  // Until the trial of the trainer that nothing ends has been finished.
  void RunOne(Rig& rig) {
    rig.coordinator().Offer(1);
    rig.Start();
    pid_ = std::stoi(rig.AwaitFile("pid"));
    undying_.emplace(pid_);
    std::ofstream(rig.File("go")) << "";
    if (!undying_->works()) GTEST_SKIP() << "ptrace(2) is not allowed here";
    ASSERT_TRUE(AwaitFinish(rig));
    const v1::Outcome outcome = rig.coordinator().heard().finishes[0].outcome();
    EXPECT_EQ(outcome.kind(), v1::Outcome::FAILED);
    EXPECT_EQ(outcome.failure(), v1::FAILURE_CLASS_INFRASTRUCTURE);
    EXPECT_THAT(outcome.cause(), HasSubstr(std::to_string(pid_)));
  }

  int pid_ = 0;
  std::optional<Undying> undying_;
};

// A slow disk, or a GPU that was reset.
TEST_F(Unkillable, ASlotWhoseTrainerEndsAtLastIsTakenUpAgain) {
  Rig rig(kOffends);
  rig.options().slots = 2;
  RunOne(rig);
  if (IsSkipped()) return;
  const auto await_slots = [&rig](int slots) {
    return rig.coordinator().Await([slots](const Heard& heard) {
      return heard.registers.back().worker().slots() == slots;
    });
  };
  ASSERT_TRUE(await_slots(1));
  undying_.reset();
  ASSERT_TRUE(await_slots(2));
  for (const int number : {2, 3}) rig.coordinator().Offer(number);
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return heard.finishes.size() == 3; }));
  rig.coordinator().EndStudy();
  EXPECT_EQ(rig.Join(), 0);
}

TEST_F(Unkillable, TheAgentEndsWhenNoSlotIsLeft) {
  Rig rig(kOffends);
  rig.options().unkillable_patience = milliseconds(10);
  RunOne(rig);
  if (IsSkipped()) return;
  EXPECT_EQ(rig.Join(), kExitFailure);
}

TEST_F(Unkillable, OtherSlotsGoOnAndTheCoordinatorHearsHowManyThereAre) {
  Rig rig(kOffends);
  rig.options().slots = 2;
  rig.options().stock_interval = milliseconds(50);
  RunOne(rig);
  if (IsSkipped()) return;
  ASSERT_TRUE(rig.coordinator().Await([](const Heard& heard) {
    return heard.registers.back().worker().slots() == 1;
  }));
  ASSERT_TRUE(rig.coordinator().Await([](const Heard& heard) {
    return heard.heartbeats.back().leases().empty();
  }));
  for (const int number : {2, 3}) rig.coordinator().Offer(number);
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return heard.finishes.size() == 3; }));
  rig.coordinator().EndStudy();
  EXPECT_EQ(rig.Join(), 0);
}

// SIGTERM must end the agent, whatever its trainer's state.
TEST_F(Unkillable, TheAgentCanBeToldToGo) {
  Rig rig(R"(note("pid", os.getpid())
while True: time.sleep(1)
)");
  rig.coordinator().Offer(1);
  rig.Start();
  undying_.emplace(std::stoi(rig.AwaitFile("pid")));
  if (!undying_->works()) GTEST_SKIP() << "ptrace(2) is not allowed here";
  rig.Stop(StopLevel::kNow, kExitRequeue);
  EXPECT_EQ(rig.Join(), kExitRequeue);
  EXPECT_THAT(rig.coordinator().heard().finishes, SizeIs(1));
}

}  // namespace
}  // namespace frostline::agent
