// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include "gtest/gtest.h"

namespace frostline {
namespace {

TEST(Log, WritesKeyValuePairs) {
  EXPECT_EQ(FormatLogLine(LogLevel::kInfo, "lease_granted",
                          {{"trial", "studies/a/trials/7"}, {"attempt", "2"}}),
            "info lease_granted trial=studies/a/trials/7 attempt=2");
}

TEST(Log, AHostileValueCannotForgeALine) {
  const std::string line = FormatLogLine(LogLevel::kWarning, "x",
                                         {{"study", "a\n2026 error forged=1"}});
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_NE(line.find('"'), std::string::npos);
}

}  // namespace
}  // namespace frostline
