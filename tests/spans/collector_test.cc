// SPDX-License-Identifier: Apache-2.0
#include "spans/collector.h"

#include "base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace frostline::spans {
namespace {

TEST(CollectorTest, IsReadFromAUrl) {
  const auto here = ParseCollector("http://127.0.0.1:4317");
  ASSERT_OK(here);
  EXPECT_EQ(here->address, "127.0.0.1:4317");
  EXPECT_FALSE(here->is_encrypted);

  const auto elsewhere = ParseCollector("https://otel.lan:9999/");
  ASSERT_OK(elsewhere);
  EXPECT_EQ(elsewhere->address, "otel.lan:9999");
  EXPECT_TRUE(elsewhere->is_encrypted);
}

TEST(CollectorTest, HasThePortOfOtlpUnlessGiven) {
  EXPECT_EQ(ParseCollector("http://localhost")->address, "localhost:4317");
  EXPECT_EQ(ParseCollector("http://[::1]")->address, "[::1]:4317");
  EXPECT_EQ(ParseCollector("https://[fd00::7]:1")->address, "[fd00::7]:1");
}

TEST(CollectorTest, IsNoPlaintextOfAnotherMachine) {
  EXPECT_THAT(ParseCollector("http://otel.lan:4317"),
              FailsWith(ErrorId::kRequestInvalid));
  EXPECT_THAT(ParseCollector("http://127.0.0.1.example:4317"),
              FailsWith(ErrorId::kRequestInvalid));
}

TEST(CollectorTest, RefusesWhatIsNoUrl) {
  for (const char* const url :
       {"", "127.0.0.1:4317", "grpc://127.0.0.1:4317", "http://",
        "http://127.0.0.1:0", "http://127.0.0.1:65536", "http://127.0.0.1:x",
        "https://host:4317/v1/traces", "https://user@host:4317",
        "https://a b:4317", "https://[::1"}) {
    EXPECT_THAT(ParseCollector(url), FailsWith(ErrorId::kRequestInvalid))
        << url;
  }
}

TEST(CollectorTest, TakesACaOnlyForACertificate) {
  EXPECT_OK(CheckCollector({"host:1", true, "ca.pem"}));
  EXPECT_OK(CheckCollector({}));
  EXPECT_THAT(CheckCollector({"127.0.0.1:1", false, "ca.pem"}),
              FailsWith(ErrorId::kRequestInvalid));
  EXPECT_THAT(CheckCollector({"", false, "ca.pem"}),
              FailsWith(ErrorId::kRequestInvalid));
}

}  // namespace
}  // namespace frostline::spans
