// SPDX-License-Identifier: Apache-2.0
#include "cli/process/captured.h"

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

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

}  // namespace
}  // namespace frostline::cli
