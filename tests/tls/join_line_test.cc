// SPDX-License-Identifier: Apache-2.0
#include "tls/join_line.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace frostline::tls {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kSecret(64, 'a');
const std::string kToken = "frost_0123456789abcdef_" + kSecret;
const std::string kPrint =
    "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

TEST(JoinLine, HasATokenAnAddressAndAFingerprint) {
  ASSERT_OK_AND_ASSIGN(
      const JoinLine line,
      ParseJoinLine(" " + kToken + "@gpu-head.lan:7443#" + kPrint + "\n"));
  EXPECT_EQ(line.token.Reveal(), kToken);
  EXPECT_EQ(line.token_id, "0123456789abcdef");
  EXPECT_EQ(line.address, "gpu-head.lan:7443");
  EXPECT_EQ(line.host, "gpu-head.lan");
  EXPECT_EQ(line.ca_sha256, kPrint);
}

TEST(JoinLine, TakesAddressesAndCapitals) {
  ASSERT_OK_AND_ASSIGN(
      const JoinLine six,
      ParseJoinLine(kToken + "@[fd00::7]:1#" + std::string(64, 'A')));
  EXPECT_EQ(six.address, "[fd00::7]:1");
  EXPECT_EQ(six.host, "fd00::7");
  EXPECT_EQ(six.ca_sha256, std::string(64, 'a'));
  EXPECT_OK(ParseJoinLine(kToken + "@10.0.0.7:65535#" + kPrint));
}

class BrokenJoinLine
    : public ::testing::TestWithParam<std::pair<std::string, const char*>> {};

TEST_P(BrokenJoinLine, SaysWhichPartAndNothingOfTheSecret) {
  const auto& [text, cause] = GetParam();
  const auto read = ParseJoinLine(text);
  ASSERT_THAT(read, FailsAt(ErrorId::kRequestInvalid, "--join"));
  const std::string said = DescribeError(read.status());
  EXPECT_THAT(said, HasSubstr(cause));
  EXPECT_THAT(said, Not(HasSubstr(kSecret.substr(0, 16))));
  EXPECT_THAT(said, Not(HasSubstr("0123456789abcdef")));
}

const char kForm[] = "no line of the form";
const char kNoToken[] = "no token before";
const char kPort[] = "no port behind";
const char kHost[] = "no host behind";
const char kFingerprint[] = "no fingerprint of 64";

INSTANTIATE_TEST_SUITE_P(
    All, BrokenJoinLine,
    ::testing::Values(
        std::pair("", kForm), std::pair(kToken, kForm),
        std::pair(kToken + "@h:1", kForm),
        std::pair(kToken + "#" + kPrint + "@h:1", kForm),
        std::pair("@h:1#" + kPrint, kNoToken),
        std::pair(kToken.substr(1) + "@h:1#" + kPrint, kNoToken),
        std::pair(kToken + "a@h:1#" + kPrint, kNoToken),
        std::pair(kToken.substr(0, 80) + "@h:1#" + kPrint, kNoToken),
        std::pair("frost_0123456789abcdeg_" + kSecret + "@h:1#" + kPrint,
                  kNoToken),
        std::pair(kToken + "_@h:1#" + kPrint, kNoToken),
        std::pair(kToken + "@h#" + kPrint, kPort),
        std::pair(kToken + "@h:0#" + kPrint, kPort),
        std::pair(kToken + "@h:65536#" + kPrint, kPort),
        std::pair(kToken + "@h:x#" + kPrint, kPort),
        std::pair(kToken + "@:1#" + kPrint, kHost),
        std::pair(kToken + "@fd00::7:1#" + kPrint, kHost),
        std::pair(kToken + "@[h]:1#" + kPrint, kHost),
        std::pair(kToken + "@a/b:1#" + kPrint, kHost),
        std::pair(kToken + "@" + kToken + "@h:1#" + kPrint, kHost),
        std::pair(kToken + "@h:1#" + kPrint.substr(1), kFingerprint),
        std::pair(kToken + "@h:1#" + kPrint + " --id w", kFingerprint),
        std::pair(kToken + "@h:1#g" + kPrint.substr(1), kFingerprint)));

}  // namespace
}  // namespace frostline::tls
