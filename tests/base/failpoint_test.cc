// SPDX-License-Identifier: Apache-2.0
#include "base/failpoint.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <set>
#include <string>

namespace frostline {
namespace {

// In a child, because what is armed is read once in the life of a process.
void Visit(const char* armed, int times) {
  setenv("FROSTLINE_FAILPOINT", armed, 1);
  for (int i = 0; i < times; ++i) ReachFailpoint(Failpoint::kCommitBefore);
  std::_Exit(0);
}

TEST(Failpoint, EndsTheProcessAtTheNamedMoment) {
  EXPECT_EXIT(Visit("commit.before:kill", 1), testing::KilledBySignal(SIGKILL),
              "");
}

TEST(Failpoint, CountsVisits) {
  EXPECT_EXIT(Visit("commit.before:kill@3", 2), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(Visit("commit.before:kill@3", 3),
              testing::KilledBySignal(SIGKILL), "");
}

TEST(Failpoint, LeavesOtherMomentsAlone) {
  EXPECT_EXIT(Visit("commit.after:kill", 5), testing::ExitedWithCode(0), "");
}

TEST(Failpoint, Sleeps) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EXIT(Visit("commit.after:kill,commit.before:sleep=60", 2),
              testing::ExitedWithCode(0), "");
  EXPECT_GE(std::chrono::steady_clock::now() - begin,
            std::chrono::milliseconds(120));
}

TEST(Failpoint, RefusesWhatItDoesNotKnow) {
  for (const char* armed :
       {"commit.befor:kill", "commit.before", "x", "commit.before:kil",
        "commit.before:kill@0", "commit.before:sleep=x"}) {
    EXPECT_EXIT(Visit(armed, 1), testing::ExitedWithCode(2),
                "failpoint_unknown")
        << armed;
  }
}

TEST(Failpoint, HasNamesOfItsOwn) {
  std::set<std::string_view> names;
  for (const FailpointInfo& point : kFailpoints) {
    EXPECT_TRUE(names.insert(point.name).second) << point.name;
    EXPECT_FALSE(point.meaning.empty()) << point.name;
  }
}

}  // namespace
}  // namespace frostline
