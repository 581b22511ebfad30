// SPDX-License-Identifier: Apache-2.0
#include "cli/term/terminal.h"

#include <chrono>
#include <cstdlib>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace frostline::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::EndsWith;
using testing::HasSubstr;

std::string SaidIn(Duration passed, Duration quiet, bool is_terminal) {
  const Terminal terminal = {.err_is_tty = is_terminal, .width = 40};
  testing::internal::CaptureStderr();
  {
    const BusyLine busy(terminal, "planning", quiet);
    std::this_thread::sleep_for(passed);
  }
  return testing::internal::GetCapturedStderr();
}

TEST(BusyLine, SaysWhatIsUnderWayAndTakesItAway) {
  const std::string said = SaidIn(milliseconds(100), seconds(0), true);
  EXPECT_THAT(said, HasSubstr("planning … 0 s"));
  EXPECT_THAT(said, EndsWith("\r\x1b[K"));
}

TEST(BusyLine, SaysNothingOfWhatIsSoonOver) {
  EXPECT_EQ(SaidIn(milliseconds(0), seconds(60), true), "");
}

TEST(BusyLine, SaysNothingOffATerminal) {
  EXPECT_EQ(SaidIn(milliseconds(100), seconds(0), false), "");
}

// As a terminal of three lines says it, whatever runs the test.
std::string Printed(const std::string& text, bool is_tty, bool pages) {
  Terminal terminal;
  terminal.out_is_tty = is_tty;
  terminal.pages = pages;
  terminal.height = 3;
  testing::internal::CaptureStdout();
  PrintPaged(terminal, text);
  return testing::internal::GetCapturedStdout();
}

class Pager : public testing::Test {
 protected:
  void SetUp() override { setenv("FROSTLINE_PAGER", "sed s/^/paged/", 1); }
  void TearDown() override {
    unsetenv("FROSTLINE_PAGER");
    unsetenv("PAGER");
  }
};

TEST_F(Pager, TakesWhatIsTallerThanTheTerminal) {
  EXPECT_EQ(Printed("1\n2\n3\n", true, true), "paged1\npaged2\npaged3\n");
  EXPECT_EQ(Printed("1\n2\n", true, true), "1\n2\n");
}

TEST_F(Pager, IsNeverUsedOffATerminalOrUnwanted) {
  EXPECT_EQ(Printed("1\n2\n3\n", false, true), "1\n2\n3\n");
  EXPECT_EQ(Printed("1\n2\n3\n", true, false), "1\n2\n3\n");
  setenv("FROSTLINE_PAGER", "", 1);
  EXPECT_EQ(Printed("1\n2\n3\n", true, true), "1\n2\n3\n");
}

TEST_F(Pager, OfFrostlineGoesBeforeThatOfAll) {
  setenv("PAGER", "more", 1);
  EXPECT_EQ(PagerCommand(), "sed s/^/paged/");
  unsetenv("FROSTLINE_PAGER");
  EXPECT_EQ(PagerCommand(), "more");
}

TEST_F(Pager, ThatIsNotThereLosesNothing) {
  setenv("FROSTLINE_PAGER", "no-such-pager-at-all 2>&-", 1);
  EXPECT_EQ(Printed("1\n2\n3\n", true, true), "1\n2\n3\n");
}

TEST_F(Pager, LeftEarlyIsNoFailure) {
  setenv("FROSTLINE_PAGER", "head -n 1", 1);
  const std::string text(std::size_t{1} << 20, '\n');
  EXPECT_EQ(Printed("first" + text, true, true), "first\n");
}

}  // namespace
}  // namespace frostline::cli
