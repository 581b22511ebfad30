// SPDX-License-Identifier: Apache-2.0
#include "server/options.h"

#include <vector>

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

absl::StatusOr<ServeOptions> Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "frostline-coordinator");
  return ParseServeOptions(static_cast<int>(arguments.size()),
                           arguments.data());
}

TEST(ServeOptionsTest, HasTheDefaultsOfTheDesign) {
  ASSERT_OK_AND_ASSIGN(const auto options, Parse({"--data", "frost"}));
  EXPECT_EQ(options.data_folder, "frost");
  EXPECT_THAT(options.listen, ::testing::ElementsAre("127.0.0.1:7070"));
  EXPECT_EQ(options.lease_ttl, seconds(60));
  EXPECT_EQ(options.heartbeat_interval, seconds(15));
  EXPECT_EQ(options.restart_grace, seconds(120));
  EXPECT_TRUE(options.print.empty());
}

TEST(ServeOptionsTest, NamesAFileOfWhoIsTold) {
  ASSERT_OK_AND_ASSIGN(const auto options,
                       Parse({"--ephemeral", "--notify-file", "notify.yaml"}));
  EXPECT_EQ(options.notify_file, "notify.yaml");
}

TEST(ServeOptionsTest, ReadsTimesAndLevels) {
  ASSERT_OK_AND_ASSIGN(
      const auto options,
      Parse({"--ephemeral", "--lease-ttl", "2s", "--heartbeat-interval",
             "500ms", "--restart-grace", "1.5", "--log-level", "DEBUG"}));
  EXPECT_TRUE(options.ephemeral);
  EXPECT_EQ(options.lease_ttl, seconds(2));
  EXPECT_EQ(options.heartbeat_interval, milliseconds(500));
  EXPECT_EQ(options.restart_grace, milliseconds(1500));
  EXPECT_EQ(options.log_level, LogLevel::kDebug);
}

TEST(ServeOptionsTest, TakesSeveralAddressesInsteadOfTheDefault) {
  ASSERT_OK_AND_ASSIGN(
      const auto options,
      Parse({"--ephemeral", "--listen", "127.0.0.1:1", "--listen=unix:/x",
             "--health-listen", "0.0.0.0:2"}));
  EXPECT_THAT(options.listen, ::testing::ElementsAre("127.0.0.1:1", "unix:/x"));
  EXPECT_EQ(options.health_listen, "0.0.0.0:2");
}

TEST(ServeOptionsTest, ReadsHowManyMayConnect) {
  ASSERT_OK_AND_ASSIGN(const auto unless_given, Parse({"--ephemeral"}));
  EXPECT_EQ(unless_given.max_connections, 0U);
  EXPECT_EQ(unless_given.max_connections_per_address, 4096U);
  ASSERT_OK_AND_ASSIGN(const auto given,
                       Parse({"--ephemeral", "--max-connections", "500",
                              "--max-connections-per-address", "20"}));
  EXPECT_EQ(given.max_connections, 500U);
  EXPECT_EQ(given.max_connections_per_address, 20U);
  EXPECT_THAT(Parse({"--ephemeral", "--max-connections", "0"}),
              FailsAt(ErrorId::kRequestInvalid, "--max-connections"));
}

TEST(ServeOptionsTest, BeatsFourTimesInATtlUnlessTold) {
  ASSERT_OK_AND_ASSIGN(const auto options,
                       Parse({"--ephemeral", "--lease-ttl", "2s"}));
  EXPECT_EQ(options.heartbeat_interval, milliseconds(500));
}

TEST(ServeOptionsTest, RefusesAHeartbeatTooSlowForTheTtl) {
  EXPECT_THAT(Parse({"--ephemeral", "--heartbeat-interval", "21s"}),
              FailsAt(ErrorId::kRequestInvalid, "--heartbeat-interval"));
}

TEST(ServeOptionsTest, RefusesTimesThatAreNone) {
  for (const char* time :
       {"", "soon", "-1s", "0", "50ms", "2h", "inf", "nan", "1e300", "60s60"}) {
    EXPECT_THAT(Parse({"--ephemeral", "--lease-ttl", time}),
                FailsWith(ErrorId::kRequestInvalid))
        << time;
  }
}

TEST(ServeOptionsTest, AsksWhereToKeepThings) {
  EXPECT_EQ(Parse({})->data_folder, "frost");
  EXPECT_THAT(Parse({"--restore", "x"}),
              FailsAt(ErrorId::kRequestInvalid, "--data"));
  EXPECT_THAT(Parse({"--data", "x", "--ephemeral"}),
              FailsWith(ErrorId::kRequestInvalid));
}

TEST(ServeOptionsTest, ACopyNamesItsDatabasesAndNoOther) {
  ASSERT_OK_AND_ASSIGN(
      const auto options,
      Parse({"--copy-from", "frost", "--copy-to", "postgres://db/frostline"}));
  EXPECT_EQ(options.copy_from, "frost");
  EXPECT_EQ(options.copy_to, "postgres://db/frostline");
  EXPECT_THAT(Parse({"--copy-from", "frost"}),
              FailsAt(ErrorId::kRequestInvalid, "--copy-to"));
  EXPECT_THAT(Parse({"--copy-to", "frost"}),
              FailsAt(ErrorId::kRequestInvalid, "--copy-from"));
  for (const char* const other :
       {"--data=x", "--store=postgres://db/x", "--restore=x", "--ephemeral",
        "--audit-end"}) {
    EXPECT_THAT(Parse({"--copy-from", "a", "--copy-to", "b", other}),
                FailsAt(ErrorId::kRequestInvalid, "--copy-from"))
        << other;
  }
}

TEST(ServeOptionsTest, RefusesUnknownOptions) {
  EXPECT_THAT(Parse({"--ephemeral", "--prot", "1"}),
              FailsWith(ErrorId::kRequestInvalid));
  EXPECT_THAT(Parse({"--ephemeral", "--log-level", "loud"}),
              FailsWith(ErrorId::kRequestInvalid));
}

TEST(ServeOptionsTest, PrintsHelpAndVersion) {
  ASSERT_OK_AND_ASSIGN(const auto help, Parse({"--help"}));
  EXPECT_THAT(help.print, HasSubstr("--lease-ttl"));
  ASSERT_OK_AND_ASSIGN(const auto version, Parse({"--version"}));
  EXPECT_THAT(version.print, HasSubstr("frostline-coordinator "));
}

}  // namespace
}  // namespace frostline::server
