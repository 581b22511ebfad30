// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/log_tail.h"

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
