// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/listening_socket.h"

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

TEST(ListenAddressTest, ReadsHostAndPort) {
  ASSERT_OK_AND_ASSIGN(const auto four, ParseListenAddress("127.0.0.1:7070"));
  EXPECT_EQ(FormatAddress(four), "127.0.0.1:7070");
  EXPECT_TRUE(four.is_loopback);
  ASSERT_OK_AND_ASSIGN(const auto six, ParseListenAddress("[::1]:0"));
  EXPECT_EQ(FormatAddress(six), "[::1]:0");
  EXPECT_TRUE(six.is_loopback);
}

TEST(ListenAddressTest, ReadsWhatIsToBeEncrypted) {
  ASSERT_OK_AND_ASSIGN(const auto local, ParseListenAddress("tls:127.0.0.1:1"));
  EXPECT_TRUE(local.is_loopback);
  EXPECT_TRUE(local.wants_tls);
  EXPECT_EQ(FormatAddress(local), "127.0.0.1:1");
  for (const char* text : {"tls:unix:/x", "tls:tls:127.0.0.1:1", "tls:"}) {
    EXPECT_THAT(ParseListenAddress(text),
                FailsAt(ErrorId::kRequestInvalid, "listen"))
        << text;
  }
}

TEST(ListenAddressTest, TurnsANameIntoANumber) {
  ASSERT_OK_AND_ASSIGN(const auto local, ParseListenAddress("localhost:1"));
  EXPECT_TRUE(local.is_loopback);
  EXPECT_THAT(local.host, ::testing::AnyOf("127.0.0.1", "::1"));
}

TEST(ListenAddressTest, KnowsWhatOthersCanReach) {
  for (const char* text :
       {"0.0.0.0:1", "[::]:1", "192.0.2.1:1", "10.0.0.1:1"}) {
    ASSERT_OK_AND_ASSIGN(const auto address, ParseListenAddress(text));
    EXPECT_FALSE(address.is_loopback) << text;
  }
}

TEST(ListenAddressTest, RefusesWhatIsNoAddress) {
  for (const char* text :
       {"", "7070", ":7070", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x",
        "127.0.0.1:65536", "127.0.0.1:-1", "::1:7070", "[]:1", "[:1", "\n:1"}) {
    EXPECT_THAT(ParseListenAddress(text),
                FailsAt(ErrorId::kRequestInvalid, "listen"))
        << text;
  }
}

TEST(ListenAddressTest, RefusesAnAddressTheMachineDoesNotHave) {
  ASSERT_OK_AND_ASSIGN(const auto foreign, ParseListenAddress("192.0.2.1:0"));
  EXPECT_THAT(CheckPortFree(foreign), FailsWith(ErrorId::kRequestInvalid));
}

}  // namespace
}  // namespace frostline::server
