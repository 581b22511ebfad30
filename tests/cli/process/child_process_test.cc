// SPDX-License-Identifier: Apache-2.0
#include "cli/process/child_process.h"

#include <csignal>
#include <thread>

#include "cli/term/text_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::cli {
namespace {

using ::testing::SizeIs;

constexpr Duration kAMinute = std::chrono::minutes(1);

TEST(CapturedTest, KeepsWhatAProgramSaysAndHowItEnds) {
  ASSERT_OK_AND_ASSIGN(
      const Captured ran,
      RunCaptured({"sh", "-c", "echo out; echo err >&2; exit 3"}, kAMinute));
  EXPECT_EQ(ran.code, 3);
  EXPECT_EQ(ran.out, "out\n");
  EXPECT_EQ(ran.err, "err\n");
}

TEST(CapturedTest, HandsWordsOverAsTheyAre) {
  ASSERT_OK_AND_ASSIGN(
      const Captured ran,
      RunCaptured({"printf", "%s|", "$HOME", "", "a b", "`x`"}, kAMinute));
  EXPECT_EQ(ran.out, "$HOME||a b|`x`|");
}

TEST(CapturedTest, HoldsMoreThanAPipeDoes) {
  ASSERT_OK_AND_ASSIGN(const Captured ran,
                       RunCaptured({"sh", "-c",
                                    "head -c 300000 /dev/zero; "
                                    "head -c 300000 /dev/zero >&2"},
                                   kAMinute));
  EXPECT_THAT(ran.out, SizeIs(300'000));
  EXPECT_THAT(ran.err, SizeIs(300'000));
}

TEST(CapturedTest, SaysWhichSignalEndedIt) {
  ASSERT_OK_AND_ASSIGN(const Captured ran,
                       RunCaptured({"sh", "-c", "kill -9 $$"}, kAMinute));
  EXPECT_EQ(ran.code, 137);
}

TEST(CapturedTest, KillsWhatDoesNotEnd) {
  EXPECT_TRUE(absl::IsDeadlineExceeded(
      RunCaptured({"sleep", "600"}, std::chrono::milliseconds(200)).status()));
}

TEST(CapturedTest, KnowsWhatIsNotThere) {
  EXPECT_TRUE(
      absl::IsNotFound(RunCaptured({"no-such-program"}, kAMinute).status()));
}

using ::testing::HasSubstr;

constexpr Duration kLong = std::chrono::seconds(30);

class ChildProcessTest : public testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<ChildProcess>> Start(
      const std::vector<std::string>& arguments) {
    return ChildProcess::Start(
        {.name = "child", .arguments = arguments, .log_file = log()});
  }
  std::string log() const { return folder_.File("log"); }
  // Until the child has said so much.
  void AwaitLog(const std::string& text) {
    while (LastLines(log(), 1) != text) std::this_thread::yield();
  }

 private:
  TempFolder folder_;
};

TEST_F(ChildProcessTest, KeepsWhatTheChildSaysAndHowItEnds) {
  ASSERT_OK_AND_ASSIGN(
      const auto child,
      Start({"/bin/sh", "-c", "echo out; echo err >&2; exit 3"}));
  ASSERT_TRUE(child->WaitFor(kLong));
  EXPECT_EQ(LastLines(log(), 9), "out\nerr");
  EXPECT_EQ(child->HowItEnded(), "ended with code 3");
}

TEST_F(ChildProcessTest, SaysWhyAProgramCannotStart) {
  const auto child = Start({"/no/such/program"});
  EXPECT_THAT(child, FailsWith(ErrorId::kTrainerStart));
  EXPECT_THAT(std::string(child.status().message()), HasSubstr("No such file"));
}

TEST_F(ChildProcessTest, StopsAChildThatObeys) {
  ASSERT_OK_AND_ASSIGN(
      const auto child,
      Start({"/bin/sh", "-c",
             "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.01; "
             "done"}));
  AwaitLog("up");
  child->Stop(kLong);
  EXPECT_EQ(child->HowItEnded(), "ended with code 0");
  EXPECT_EQ(LastLines(log(), 1), "bye");
}

TEST_F(ChildProcessTest, KillsAChildThatDoesNotObey) {
  ASSERT_OK_AND_ASSIGN(
      const auto child,
      Start({"/bin/sh", "-c",
             "trap '' TERM; echo up; while :; do sleep 0.01; done"}));
  AwaitLog("up");
  child->Stop(std::chrono::milliseconds(50));
  EXPECT_THAT(child->HowItEnded(), HasSubstr("signal 9"));
}

TEST_F(ChildProcessTest, LeavesNobodyBehind) {
  pid_t pid = 0;
  {
    ASSERT_OK_AND_ASSIGN(const auto child, Start({"/bin/sleep", "1000"}));
    pid = child->pid();
    EXPECT_EQ(getpgid(pid), pid);  // Ctrl-C at our terminal is not its business
    EXPECT_EQ(kill(pid, 0), 0);
  }
  EXPECT_EQ(kill(pid, 0), -1);
}

TEST_F(ChildProcessTest, ChildrenHearSignalsThatWeHoldBack) {
  const StopSignals held;
  ASSERT_OK_AND_ASSIGN(const auto child, Start({"/bin/sleep", "1000"}));
  child->Stop(kLong);
  EXPECT_THAT(child->HowItEnded(), HasSubstr("signal 15"));
}

TEST(StopSignals, TellsOfCtrlC) {
  StopSignals signals;
  EXPECT_OK(signals.Pause(std::chrono::milliseconds(1)));
  kill(getpid(), SIGINT);
  EXPECT_TRUE(absl::IsCancelled(signals.Pause(kLong)));
  EXPECT_TRUE(signals.caught());
  EXPECT_TRUE(absl::IsCancelled(signals.Pause(kLong)));  // ever after
}

TEST(SiblingProgram, LooksBesideTheRunningProgram) {
  EXPECT_OK(SiblingProgram("cli_process_test"));
  EXPECT_THAT(SiblingProgram("no-such-program"),
              FailsWith(ErrorId::kTrainerStart));
}

}  // namespace
}  // namespace frostline::cli
