// SPDX-License-Identifier: Apache-2.0
#include "tls/authority.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tls/certificate.h"

namespace frostline::tls {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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
