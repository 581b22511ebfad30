// SPDX-License-Identifier: Apache-2.0
#include "base/failpoint.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <set>
#include <string>

#include "base/flags.h"
#include "base/known_holes.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

namespace frostline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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

TEST(KnownHoles, AreBoundedByVersions) {
  const auto has = [](const std::string& library, const std::string& version) {
    return !HolesOf(library, version, KnownHoles()).empty();
  };
  EXPECT_TRUE(has("SQLite", "3.40.1"));
  EXPECT_FALSE(has("SQLite", "3.44.6"));
  EXPECT_TRUE(has("SQLite", "3.45.0"));
  EXPECT_FALSE(has("SQLite", "3.50.7"));
  EXPECT_TRUE(has("SQLite", "3.51.2"));
  EXPECT_FALSE(has("SQLite", "3.51.3"));
  EXPECT_TRUE(has("gRPC", "1.51.1"));
  EXPECT_FALSE(has("gRPC", "1.59.2"));
  EXPECT_FALSE(has("Protobuf", "3.21.12"));
  EXPECT_TRUE(IsBefore("1.9", "1.51.1"));
  EXPECT_FALSE(IsBefore("2.6.0+cpu", "2.6"));
}

TEST(KnownHoles, OpenIsWhatNothingTakesTheOccasionOf) {
  const std::vector<KnownHole> known = {
      {"gRPC", "0", "2.0", "CVE-1", "it stops", "a door"},
      {"gRPC", "0", "2.0", "CVE-2", "it leaks", ""}};
  EXPECT_THAT(OpenHolesOf({{"gRPC", "1.51.1"}, {"SQLite", "3.40.1"}}, known),
              ElementsAre("gRPC 1.51.1 has CVE-2 (it leaks)"));
  EXPECT_THAT(OpenHolesOf({{"gRPC", "2.0"}}, known), IsEmpty());
}

class FlagsTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::string> Parse(std::vector<const char*> words) {
    FlagTable program{"ice", "1.2", "Makes ice.", {}};
    program.flags = {
        TextFlag("--listen", "HOST:PORT", "Where it listens", &listen_),
        WholeFlag("--slots", "How many at a time", 1, 9, &slots_),
        SwitchFlag("--ephemeral", "Keep nothing", &ephemeral_),
        TimeFlag("--every", "How often", std::chrono::seconds(1),
                 std::chrono::hours(1), &every_),
        BytesFlag("--reserve", "Bytes that stay free", &reserve_),
        LogLevelFlag(&level_)};
    program.flags[0].variable = "ICE_LISTEN";
    words.insert(words.begin(), "ice");
    return ParseFlags(program, static_cast<int>(words.size()), words.data());
  }

  std::string listen_ = "here";
  int slots_ = 1;
  bool ephemeral_ = false;
  Duration every_ = std::chrono::seconds(60);
  std::int64_t reserve_ = std::int64_t{1} << 30;
  LogLevel level_ = LogLevel::kInfo;
};

TEST_F(FlagsTest, WhatIsGivenArrives) {
  EXPECT_OK(Parse({"--listen=a=b", "--slots", "3", "--ephemeral", "--every",
                   "1m30s", "--reserve", "1.5G", "--log-level", "DEBUG"}));
  EXPECT_EQ(listen_, "a=b");
  EXPECT_EQ(slots_, 3);
  EXPECT_TRUE(ephemeral_);
  EXPECT_EQ(every_, std::chrono::seconds(90));
  EXPECT_EQ(reserve_, std::int64_t{3} << 29);
  EXPECT_EQ(level_, LogLevel::kDebug);
}

TEST_F(FlagsTest, WhatIsNotGivenStays) {
  EXPECT_OK(Parse({}));
  EXPECT_EQ(listen_, "here");
  EXPECT_EQ(every_, std::chrono::seconds(60));
}

TEST_F(FlagsTest, AVariableStandsInForItsFlag) {
  setenv("ICE_LISTEN", "there", 1);
  EXPECT_OK(Parse({}));
  EXPECT_EQ(listen_, "there");
  EXPECT_OK(Parse({"--listen", "nowhere"}));
  EXPECT_EQ(listen_, "nowhere");
  unsetenv("ICE_LISTEN");
}

TEST_F(FlagsTest, AMistakeNamesTheFlag) {
  const std::vector<std::vector<const char*>> mistakes = {
      {"--slots"},           {"--slots", "0"},
      {"--slots", "10"},     {"--slots", "three"},
      {"--slots", ""},       {"--slots", "2.5"},
      {"--slots", "--help"}, {"--slots", "1", "--slots", "2"}};
  for (const auto& words : mistakes) {
    EXPECT_THAT(Parse(words), FailsAt(ErrorId::kRequestInvalid, "--slots"))
        << words.back();
  }
  EXPECT_THAT(Parse({"--ephemeral=yes"}),
              FailsAt(ErrorId::kRequestInvalid, "--ephemeral"));
  for (const char* time : {"", "soon", "-1s", "0", "2h", "inf", "nan"}) {
    EXPECT_THAT(Parse({"--every", time}),
                FailsAt(ErrorId::kRequestInvalid, "--every"))
        << time;
  }
}

TEST_F(FlagsTest, AnUnknownFlagIsToldTheNearest) {
  const auto near = Parse({"--lisen", "x"});
  EXPECT_THAT(near, FailsWith(ErrorId::kRequestInvalid));
  EXPECT_THAT(DescribeError(near.status()),
              HasSubstr("did you mean --listen?"));
  EXPECT_THAT(DescribeError(Parse({"word"}).status()), HasSubstr("--help"));
  EXPECT_THAT(DescribeError(Parse({"--log-level", "warn"}).status()),
              HasSubstr("debug, info, warning, error"));
}

TEST_F(FlagsTest, SizesAreInPowersOf1024) {
  for (const char* size : {"2048", "2k", "2KB", "2kib", "2KiB"}) {
    EXPECT_OK(Parse({"--reserve", size}));
    EXPECT_EQ(reserve_, 2048) << size;
  }
  for (const char* size : {"", "-1", "nan", "soon", "1e30", "GiB", "5 X"}) {
    EXPECT_THAT(Parse({"--reserve", size}),
                FailsAt(ErrorId::kRequestInvalid, "--reserve"))
        << size;
  }
}

TEST_F(FlagsTest, HelpTellsNamesValuesAndWhatHolds) {
  ASSERT_OK_AND_ASSIGN(const std::string help, Parse({"--slots", "2", "-h"}));
  EXPECT_THAT(help, HasSubstr("--listen HOST:PORT"));
  EXPECT_THAT(help, HasSubstr("Where it listens ($ICE_LISTEN) [here]"));
  EXPECT_THAT(help, HasSubstr("Bytes that stay free [1G]"));
  EXPECT_THAT(help, HasSubstr("How often [1m]"));
  EXPECT_EQ(*Parse({"--version"}), "ice 1.2\n");
}

}  // namespace
}  // namespace frostline
