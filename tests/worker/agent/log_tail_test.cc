// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/process/log_tail.h"

#include <filesystem>

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"
#include "worker/agent/file.h"

namespace frostline::agent {
namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;

TEST(LogTail, KeepsWholeLinesOfTheEnd) {
  LogTail log;
  for (int i = 0; i < 20'000; ++i) {
    log.Append("line " + std::to_string(i) + "\n");
  }
  const std::string text = log.Text();
  EXPECT_LE(text.size(), kMaxLogTailBytes);
  EXPECT_GT(text.size(), kMaxLogTailBytes - 20);
  EXPECT_THAT(text, StartsWith("line "));
  EXPECT_THAT(text, EndsWith("line 19999\n"));
}

TEST(LogTail, BytesThatAreNoTextDoNotLetItGrow) {
  LogTail log;
  log.Append(std::string(3 * kMaxLogTailBytes, '\xff'));
  EXPECT_EQ(log.Text(), std::string(kMaxLogTailBytes, '?'));
}

TEST(LogTail, ACharacterThatComesInTwoHalvesIsOne) {
  LogTail log;
  log.Append("na\xc3");
  EXPECT_EQ(log.Tail().end, 2);
  log.Append("\xafve \xe2\x82");
  log.Append("\xac\n\xff");
  EXPECT_EQ(log.Text(), "na\xc3\xafve \xe2\x82\xac\n?");
  EXPECT_EQ(log.Tail().end, 12);
}

TEST(LogTail, TellsWhatComesAfterSoManyBytes) {
  LogTail log;
  log.Append("hello\nworld\n");
  EXPECT_EQ(log.After(6).text, "world\n");
  EXPECT_EQ(log.After(6).end, 12);
  EXPECT_EQ(log.After(12).text, "");
  EXPECT_EQ(log.After(99).text, "");
  const std::string line(1023, 'x');
  for (int i = 0; i < 1000; ++i) log.Append(line + "\n");
  EXPECT_EQ(log.After(12).text.size(), kMaxLogTailBytes - 1024);
  EXPECT_EQ(log.After(12).end, 12 + 1'024'000);
  EXPECT_EQ(log.After(1'024'012 - 1024).text, line + "\n");
}

TEST(LogTail, RingsOnceWhenThereIsMore) {
  LogTail log;
  Wakeup bell;
  log.RingAfter(3, &bell);
  log.Append("abc");
  EXPECT_FALSE(bell.WaitFor(Duration::zero()));
  log.Append("d");
  EXPECT_TRUE(bell.WaitFor(Duration::zero()));
  log.Append("e");
  EXPECT_FALSE(bell.WaitFor(Duration::zero()));
  log.RingAfter(3, &bell);
  EXPECT_TRUE(bell.WaitFor(Duration::zero()));
}

TEST(LogTail, ANewLogBeginsAtNothingAndRingsNoOldBell) {
  LogTail log;
  Wakeup bell;
  log.Append("abc");
  log.RingAfter(3, &bell);
  log.Clear();
  log.Append("abcdef");
  EXPECT_FALSE(bell.WaitFor(Duration::zero()));
  EXPECT_EQ(log.end(), 6);
}

TEST(LogFile, HoldsAllButIsBounded) {
  const TempFolder folder;
  const std::string path = folder.File("2.log");
  LogTail log;
  log.Follow(std::make_unique<LogFile>(path));
  log.Append("first\n");
  EXPECT_EQ(*ReadFile(path), "first\n");
  const std::string line(1023, 'x');
  for (int i = 0; i < 20'000; ++i) log.Append(line + "\n");
  EXPECT_LE(std::filesystem::file_size(path), kMaxLogFileBytes);
  EXPECT_LE(std::filesystem::file_size(path + ".1"), kMaxLogFileBytes);
  log.Append("last\n");
  EXPECT_THAT(*ReadFile(path), EndsWith("x\nlast\n"));
}

TEST(LogFile, ADiskThatRefusesCostsNothingElse) {
  LogTail log;
  log.Follow(std::make_unique<LogFile>("/no/such/folder/1.log"));
  log.Append("said\n");
  EXPECT_EQ(log.Text(), "said\n");
}

}  // namespace
}  // namespace frostline::agent
