// SPDX-License-Identifier: Apache-2.0
#include "server/notify/run_program.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/server/notify/script.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::server {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::IsEmpty;

class RunProgramTest : public ::testing::Test {
 protected:
  absl::StatusOr<Ran> Shell(const std::string& script,
                            Duration limit = std::chrono::seconds(30)) {
    return RunProgram({.words = {WriteScript(folder_.File("program"), script)},
                       .variables = {"GIVEN=1"},
                       .input = input_,
                       .limit = limit},
                      stop_);
  }

  TempFolder folder_;
  std::string input_;
  StopSign stop_;
};

TEST_F(RunProgramTest, SaysHowItEndedAndItsLastWords) {
  ASSERT_OK_AND_ASSIGN(const Ran ran,
                       Shell("echo first\necho 'no\tmail' >&2\necho\nexit 7"));
  EXPECT_EQ(ran.code, 7);
  EXPECT_EQ(ran.last_line, "no mail");
  ASSERT_OK_AND_ASSIGN(const Ran killed, Shell("kill -9 $$"));
  EXPECT_EQ(killed.code, 128 + 9);
}

TEST_F(RunProgramTest, GivesAllOfTheInputAlsoToWhoReadsNoneOfIt) {
  input_ = std::string(1 << 20, 'x');
  ASSERT_OK_AND_ASSIGN(const Ran counted, Shell("wc -c"));
  EXPECT_EQ(counted.last_line, "1048576");
  ASSERT_OK_AND_ASSIGN(const Ran deaf, Shell("exit 0"));
  EXPECT_EQ(deaf.code, 0);
}

TEST_F(RunProgramTest, IsNotHeldUpByOneThatTalksWithoutEnd) {
  ASSERT_OK_AND_ASSIGN(const Ran ran,
                       Shell("head -c 5000000 /dev/zero | tr '\\0' y\n"
                             "echo; echo done"));
  EXPECT_EQ(ran.last_line, "done");
}

TEST_F(RunProgramTest, HandsOnLittleOfWhatTheCoordinatorHas) {
  const int open_file = open("/dev/null", O_RDONLY);  // not close-on-exec
  setenv("FROSTLINE_TEST_SECRET", "s3cret", 1);
  ASSERT_OK_AND_ASSIGN(
      const Ran ran,
      Shell(absl::StrCat("[ \"$GIVEN\" = 1 ] && [ -n \"$PATH\" ] && "
                         "[ -z \"$FROSTLINE_TEST_SECRET\" ] && "
                         "[ ! -e /proc/$$/fd/",
                         open_file, " ]")));
  unsetenv("FROSTLINE_TEST_SECRET");
  close(open_file);
  EXPECT_EQ(ran.code, 0);
}

// A process whose parent is gone may stay as a zombie for a while.
bool Runs(const std::string& pid) {
  for (const std::string& line : LinesOf("/proc/" + pid + "/status")) {
    if (absl::StartsWith(line, "State:")) {
      return !absl::StrContains(line, "Z") && !absl::StrContains(line, "X");
    }
  }
  return false;
}

TEST_F(RunProgramTest, KillsOneThatHangsWithAllThatItStarted) {
  const absl::Status status =
      Shell("sleep 1000 &\necho $! >\"$(dirname \"$0\")/pid\"\nwait",
            milliseconds(500))
          .status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  const std::vector<std::string> pids = LinesOf(folder_.File("pid"));
  ASSERT_EQ(pids.size(), 1U);
  for (int i = 0; i < 500 && Runs(pids[0]); ++i) usleep(10'000);
  EXPECT_FALSE(Runs(pids[0]));
}

TEST_F(RunProgramTest, DoesNotWaitForWhatAProgramLeftBehind) {
  ASSERT_OK_AND_ASSIGN(const Ran ran, Shell("sleep 5 &\necho gone"));
  EXPECT_EQ(ran.last_line, "gone");
}

TEST_F(RunProgramTest, EndsWhenTheCoordinatorStops) {
  stop_ = StopSign([] { return true; });
  EXPECT_TRUE(absl::IsCancelled(Shell("sleep 1000").status()));
}

TEST_F(RunProgramTest, SaysWhyNothingCanStart) {
  const absl::Status status =
      RunProgram(
          {.words = {folder_.File("none")}, .variables = {}, .input = ""},
          stop_)
          .status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("cannot be started"));
}

}  // namespace
}  // namespace frostline::server
