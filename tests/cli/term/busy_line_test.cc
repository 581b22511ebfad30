// SPDX-License-Identifier: Apache-2.0
#include "cli/term/busy_line.h"

#include <chrono>
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

}  // namespace
}  // namespace frostline::cli
