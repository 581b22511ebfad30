// SPDX-License-Identifier: Apache-2.0
#include "tls/join.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tls/authority.h"
#include "tls/certificate.h"

namespace frostline::tls {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
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

constexpr WallMicros kHour = WallMicros{3'600} * 1'000'000;
constexpr WallMicros kDay = 24 * kHour;
constexpr WallMicros kNow = 1'800'000'000LL * 1'000'000;

class AuthorityTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(authority_, MakeAuthority("test", kNow));
  }

  KeyPair authority_;
};

TEST_F(AuthorityTest, SaysWhatItIs) {
  ASSERT_OK_AND_ASSIGN(const auto facts,
                       ReadCertificate(authority_.certificate_pem));
  EXPECT_TRUE(facts.is_authority);
  EXPECT_EQ(facts.begins, kNow - kHour);
  EXPECT_EQ(facts.expires, kNow + 3650 * kDay);
  EXPECT_EQ(facts.sha256.size(), 64u);
}

TEST_F(AuthorityTest, IssuesForHosts) {
  ASSERT_OK_AND_ASSIGN(const KeyPair made,
                       Issue(authority_,
                             {.name = "coordinator",
                              .hosts = {"gpu-head.lan", "10.0.0.7", "::1"},
                              .uri = ""},
                             kNow));
  ASSERT_OK_AND_ASSIGN(const auto facts, ReadCertificate(made.certificate_pem));
  EXPECT_THAT(facts.hosts, ElementsAre("gpu-head.lan", "10.0.0.7", "::1"));
  EXPECT_THAT(facts.uris, IsEmpty());
  EXPECT_FALSE(facts.is_authority);
  EXPECT_EQ(facts.expires, kNow + 365 * kDay);
  EXPECT_OK(CheckPair(made.certificate_pem, made.key_pem));
}

TEST_F(AuthorityTest, IssuesForAnOwner) {
  const std::string uri = FormatOwnerName({"worker", "gpu03"});
  ASSERT_OK_AND_ASSIGN(const KeyPair made,
                       Issue(authority_,
                             {.name = "gpu03",
                              .hosts = {},
                              .uri = uri,
                              .lifetime = std::chrono::hours(99'999)},
                             kNow));
  ASSERT_OK_AND_ASSIGN(const auto facts, ReadCertificate(made.certificate_pem));
  EXPECT_THAT(facts.uris, ElementsAre(uri));
  EXPECT_EQ(facts.expires, kNow + 825 * kDay);  // no longer than that
}

TEST_F(AuthorityTest, NoTwoCertificatesAreEqual) {
  const LeafSpec spec{.name = "w", .hosts = {"h"}, .uri = ""};
  EXPECT_NE(
      ReadCertificate(Issue(authority_, spec, kNow)->certificate_pem)->sha256,
      ReadCertificate(Issue(authority_, spec, kNow)->certificate_pem)->sha256);
}

TEST_F(AuthorityTest, AHostThatIsNoneAddsNoOtherName) {
  for (const char* host :
       {"", "a,DNS:b", "a b", "a\n", "*.lan", "a/b", "URI:spiffe://x"}) {
    EXPECT_THAT(
        Issue(authority_, {.name = "c", .hosts = {host}, .uri = ""}, kNow),
        FailsAt(ErrorId::kRequestInvalid, "--host"))
        << host;
  }
}

TEST_F(AuthorityTest, TheKeyOfAnotherIsNoPair) {
  EXPECT_THAT(CheckPair(authority_.certificate_pem,
                        MakeAuthority("other", kNow)->key_pem),
              FailsWith(ErrorId::kTlsFile));
  EXPECT_THAT(CheckPair(authority_.certificate_pem, SecretString("none")),
              FailsWith(ErrorId::kTlsFile));
  EXPECT_THAT(CheckPair("none", authority_.key_pem),
              FailsWith(ErrorId::kTlsFile));
}

TEST(OwnerNameTest, IsReadInOneFormAlone) {
  const OwnerName read =
      ParseOwnerName("spiffe://cluster.lan/frostline/worker/gpu03");
  EXPECT_EQ(read.role, "worker");
  EXPECT_EQ(read.name, "gpu03");
  EXPECT_EQ(ParseOwnerName(FormatOwnerName(read)).name, "gpu03");
  for (const char* uri :
       {"", "spiffe://", "https://x/frostline/admin/ana",
        "spiffe:///frostline/admin/ana", "spiffe://x/admin/ana",
        "spiffe://x/other/admin/ana", "spiffe://x/frostline/admin",
        "spiffe://x/frostline/admin/", "spiffe://x/frostline/admin/ana/more",
        "spiffe://x/frostline/admin/..", "spiffe://x/frostline/admin/A B"}) {
    EXPECT_EQ(ParseOwnerName(uri).role, "") << uri;
  }
}

TEST_F(AuthorityTest, IssuesForAKeyThatItNeverSees) {
  ASSERT_OK_AND_ASSIGN(const KeyRequest asked, MakeRequest("eve"));
  const std::string uri = FormatOwnerName({"worker", "gpu03"});
  ASSERT_OK_AND_ASSIGN(
      const std::string made,
      IssueFor(asked.request_pem, authority_,
               {.name = "gpu03", .hosts = {}, .uri = uri}, kNow));
  EXPECT_OK(CheckPair(made, asked.key_pem));
  EXPECT_THAT(ReadCertificate(made)->uris, ElementsAre(uri));
}

TEST_F(AuthorityTest, IssuesForNoRequestThatItsKeyHasNotSigned) {
  ASSERT_OK_AND_ASSIGN(const KeyRequest asked, MakeRequest("gpu03"));
  const LeafSpec spec{.name = "gpu03", .hosts = {}, .uri = ""};
  for (std::size_t i = 40; i < asked.request_pem.size() - 40; i += 7) {
    std::string changed = asked.request_pem;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    if (changed == asked.request_pem) continue;
    EXPECT_FALSE(IssueFor(changed, authority_, spec, kNow).ok()) << i;
  }
  EXPECT_THAT(IssueFor("", authority_, spec, kNow),
              FailsWith(ErrorId::kRequestInvalid));
}

}  // namespace
}  // namespace frostline::tls
