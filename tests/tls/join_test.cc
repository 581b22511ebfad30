// SPDX-License-Identifier: Apache-2.0
#include "tls/join.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tls/authority.h"
#include "tls/certificate.h"

namespace frostline::tls {
namespace {

using ::testing::HasSubstr;

constexpr WallMicros kPinnedNow = 1'767'225'600'000'000;
constexpr WallMicros kPinnedDay = WallMicros{86'400} * 1'000'000;

class PinnedChainTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(authority_, MakeAuthority("ours", kPinnedNow));
    ASSERT_OK_AND_ASSIGN(const CertificateFacts facts,
                         ReadCertificate(authority_.certificate_pem));
    pin_ = {"head.lan", facts.sha256};
    leaf_ = LeafOf(authority_, {"head.lan", "10.0.0.7", "fd00::7"});
  }

  static std::string LeafOf(const KeyPair& authority,
                            const std::vector<std::string>& hosts,
                            const std::string& uri = "") {
    LeafSpec spec{.name = "c", .hosts = hosts, .uri = uri};
    spec.lifetime = std::chrono::hours(24);
    return Issue(authority, spec, kPinnedNow)->certificate_pem;
  }

  std::string said(const absl::Status& status) { return DescribeError(status); }

  KeyPair authority_;
  Pin pin_;
  std::string leaf_;
};

TEST_F(PinnedChainTest, TakesALeafOfTheCaWithTheHost) {
  const std::string chain = leaf_ + authority_.certificate_pem;
  EXPECT_OK(CheckPinnedChain(chain, pin_, kPinnedNow));
  EXPECT_OK(CheckPinnedChain(chain, {"10.0.0.7", pin_.ca_sha256}, kPinnedNow));
  EXPECT_OK(CheckPinnedChain(chain, {"fd00::7", pin_.ca_sha256}, kPinnedNow));
}

TEST_F(PinnedChainTest, RefusesAnotherCa) {
  ASSERT_OK_AND_ASSIGN(const KeyPair other, MakeAuthority("ours", kPinnedNow));
  const std::string chain = LeafOf(other, {"head.lan"}) + other.certificate_pem;
  EXPECT_THAT(CheckPinnedChain(chain, pin_, kPinnedNow),
              FailsWith(ErrorId::kFingerprintWrong));
  // Whoever knows the CA's certificate can show it, and has signed nothing.
  const absl::Status status =
      CheckPinnedChain(chain + authority_.certificate_pem, pin_, kPinnedNow);
  EXPECT_THAT(status, FailsWith(ErrorId::kFingerprintWrong));
  EXPECT_THAT(said(status), HasSubstr("is not signed by the CA"));
}

TEST_F(PinnedChainTest, RefusesAChainWithoutTheCa) {
  EXPECT_THAT(CheckPinnedChain(leaf_, pin_, kPinnedNow),
              FailsWith(ErrorId::kFingerprintWrong));
  EXPECT_THAT(CheckPinnedChain("", pin_, kPinnedNow),
              FailsWith(ErrorId::kFingerprintWrong));
}

TEST_F(PinnedChainTest, RefusesAFingerprintOfWhatIsNoCa) {
  const std::string print = ReadCertificate(leaf_)->sha256;
  const absl::Status status =
      CheckPinnedChain(leaf_, {"head.lan", print}, kPinnedNow);
  EXPECT_THAT(status, FailsWith(ErrorId::kFingerprintWrong));
  EXPECT_THAT(said(status), HasSubstr("no CA"));
}

TEST_F(PinnedChainTest, RefusesAHostThatIsNotInTheLeaf) {
  const std::string chain = leaf_ + authority_.certificate_pem;
  for (const char* const host : {"tail.lan", "10.0.0.8", "c", "x.head.lan"}) {
    const absl::Status status =
        CheckPinnedChain(chain, {host, pin_.ca_sha256}, kPinnedNow);
    EXPECT_THAT(status, FailsWith(ErrorId::kFingerprintWrong)) << host;
    EXPECT_THAT(said(status), HasSubstr("--host")) << host;
  }
}

TEST_F(PinnedChainTest, RefusesATimeThatIsOverOrHasNotBegun) {
  const std::string chain = leaf_ + authority_.certificate_pem;
  const absl::Status over =
      CheckPinnedChain(chain, pin_, kPinnedNow + 2 * kPinnedDay);
  EXPECT_THAT(over, FailsWith(ErrorId::kTlsRefused));
  EXPECT_THAT(said(over), HasSubstr("has expired"));
  const absl::Status early =
      CheckPinnedChain(chain, pin_, kPinnedNow - kPinnedDay);
  EXPECT_THAT(early, FailsWith(ErrorId::kTlsRefused));
  EXPECT_THAT(said(early), HasSubstr("set the clock"));
}

// A worker's certificate is of the same CA, and its key is on every node.
TEST_F(PinnedChainTest, RefusesAnotherWorkerInTheCoordinatorsPlace) {
  const std::string worker =
      LeafOf(authority_, {}, FormatOwnerName({"worker", "head.lan"}));
  const absl::Status status =
      CheckPinnedChain(worker + authority_.certificate_pem, pin_, kPinnedNow);
  EXPECT_THAT(status, FailsWith(ErrorId::kTlsRefused));
  EXPECT_THAT(said(status), HasSubstr("no coordinator's"));
}

}  // namespace
}  // namespace frostline::tls
