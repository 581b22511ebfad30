// SPDX-License-Identifier: Apache-2.0
//
// Invitations, certificates, labelled tokens and the audit, on the command
// line.
#include "gmock/gmock.h"
#include "tests/cli/access_fixture.h"

namespace frostline::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const std::string& Fingerprint() {
  static const auto* const digits = new std::string(64, 'b');
  return *digits;
}

class WorkerInviteTest : public AccessCommandsTest {
 protected:
  WorkerInviteTest() {
    admin_.created.set_secret(kSecret);
    admin_.created.set_join_address("gpu-head.lan:7443");
    admin_.created.set_ca_sha256(Fingerprint());
    admin_.created.mutable_token()->set_id("3f9c0a51d2e47b68");
    admin_.created.mutable_token()->mutable_expire_time()->set_seconds(
        1'800'000'000);
  }
};

TEST_F(WorkerInviteTest, PrintsOneLineToPaste) {
  ASSERT_EQ(Frostline("worker invite --connect $AT"), 0) << output_;
  const std::string join =
      std::string(kSecret) + "@gpu-head.lan:7443#" + Fingerprint();
  EXPECT_EQ(out_, "frostline worker --join " + join + " --registry DIR\n");
  EXPECT_THAT(output_, AllOf(HasSubstr("for DIR"), HasSubstr("works once"),
                             HasSubstr("until 2027-01-15 08:00:00Z")));
  ASSERT_THAT(admin_.create_requests, SizeIs(1));
  const v1::CreateTokenRequest& asked = admin_.create_requests[0];
  EXPECT_EQ(asked.role(), v1::ROLE_WORKER);
  EXPECT_TRUE(asked.single_use());
  EXPECT_EQ(asked.subject(), "");
  EXPECT_EQ(asked.lifetime().seconds(), 3600);

  ASSERT_EQ(Frostline("worker invite --connect $AT --id gpu03 --slots gpu "
                      "--expires 2160h --registry '/srv/my models'"),
            0)
      << output_;
  EXPECT_EQ(out_, "frostline worker --join " + join +
                      " --registry '/srv/my models' --id gpu03 --slots gpu\n");
  EXPECT_EQ(admin_.create_requests[1].subject(), "workers/gpu03");
  EXPECT_EQ(admin_.create_requests[1].lifetime().seconds(), 90 * 24 * 3600);
}

TEST_F(WorkerInviteTest, ALineForAShellWhateverTheAddress) {
  admin_.created.set_join_address("[fd00::7]:7443");
  ASSERT_EQ(Frostline("worker invite --connect $AT"), 0) << output_;
  Write("line.sh", out_);
  ASSERT_EQ(Shell("frostline() { printf '%s\\n' \"$@\"; }; . ./line.sh"), 0);
  EXPECT_EQ(out_, "worker\n--join\n" + std::string(kSecret) +
                      "@[fd00::7]:7443#" + Fingerprint() +
                      "\n--registry\nDIR\n");
}

TEST_F(WorkerInviteTest, ProgramsGetTheLineToo) {
  ASSERT_EQ(Frostline("worker invite --connect $AT --json"), 0) << output_;
  EXPECT_THAT(out_, AllOf(HasSubstr("\"line\": \"frostline worker --join "),
                          HasSubstr("\"token_id\": \"3f9c0a51d2e47b68\""),
                          HasSubstr("\"expire_time\": \"2027-01-15T08:00:00")));
}

TEST_F(WorkerInviteTest, RefusesByNameAndMakesNoToken) {
  for (const char* const flags :
       {"--expires 25h", "--expires 2161h --id a", "--expires 0s",
        "--expires soon", "--slots 0", "--slots many", "--id 'Bad One'"}) {
    EXPECT_EQ(Frostline(std::string("worker invite --connect $AT ") + flags), 2)
        << flags;
    const std::string flag = std::string(flags).substr(0, 4);
    EXPECT_THAT(output_, HasSubstr(flag == "--id" ? "Bad One" : flag)) << flags;
  }
  EXPECT_THAT(admin_.create_requests, IsEmpty());
  admin_.created.clear_join_address();
  EXPECT_NE(Frostline("worker invite --connect $AT"), 0);
  EXPECT_THAT(output_, AllOf(HasSubstr("FL-4021"), Not(HasSubstr(kSecret))));
}

class CertificateTest : public AccessCommandsTest {
 protected:
  CertificateTest() {
    for (const char digit : {'a', 'b', 'c'}) {
      v1::Certificate& one = *admin_.certificates.add_certificates();
      one.set_sha256(std::string(20, '7') + std::string(44, digit));
      one.set_role(v1::ROLE_WORKER);
      one.set_subject(std::string("workers/gpu-") + digit);
      one.mutable_expire_time()->set_seconds(1'800'000'000);
    }
    admin_.certificates.mutable_certificates(2)
        ->mutable_revoke_time()
        ->set_seconds(1'700'000'000);
    admin_.certificates.mutable_certificates(2)->set_sha256(
        std::string(64, '9'));
  }
};

TEST_F(CertificateTest, ListsAllPages) {
  ASSERT_EQ(Frostline("cert list --connect $AT"), 0) << output_;
  EXPECT_THAT(out_, AllOf(HasSubstr("7777777777777777  worker  workers/gpu-a"),
                          HasSubstr("workers/gpu-c"), HasSubstr("never"),
                          HasSubstr("revoked 2023-11-14 22:13:20Z")));
  ASSERT_EQ(Frostline("cert list --connect $AT --json"), 0) << output_;
  EXPECT_THAT(out_, AllOf(HasSubstr("\"certificates\": ["),
                          HasSubstr(std::string(64, '9'))));
  ASSERT_EQ(Frostline("cert list --connect $AT --format name"), 0) << output_;
  EXPECT_THAT(out_, HasSubstr(std::string(64, '9') + "\n"));
}

TEST_F(CertificateTest, RevokesOneByItsDigits) {
  ASSERT_EQ(Frostline("cert revoke 99999999 --connect $AT"), 0) << output_;
  ASSERT_THAT(admin_.certificate_requests, SizeIs(1));
  EXPECT_EQ(admin_.certificate_requests[0].sha256(), std::string(64, '9'));
  // One that was never seen, too.
  ASSERT_EQ(Frostline("cert revoke " + Fingerprint() + " --connect $AT"), 0);
  EXPECT_EQ(admin_.certificate_requests[1].sha256(), Fingerprint());
  for (const char* const digits : {"7777777777777777", "12345678", "9", "zz"}) {
    EXPECT_EQ(Frostline(std::string("cert revoke --connect $AT ") + digits), 2)
        << digits;
  }
  EXPECT_EQ(Frostline("cert revoke --connect $AT"), 2);
  EXPECT_EQ(Frostline("cert revoke 99999999 --subject ana --connect $AT"), 2);
  EXPECT_THAT(admin_.certificate_requests, SizeIs(2));
}

TEST_F(CertificateTest, RevokesAllOfASubject) {
  ASSERT_EQ(Frostline("cert revoke --subject workers/gpu03 --connect $AT"), 0)
      << output_;
  EXPECT_EQ(out_,
            "all certificates of workers/gpu03 are revoked, 2 known ones "
            "now\n");
  EXPECT_EQ(admin_.certificate_requests[0].subject(), "workers/gpu03");
}

TEST_F(CertificateTest, AWorkerIsShutOutWithAllItHas) {
  for (const char* const id : {"t1", "t2", "t3", "t4"}) {
    v1::Token& token = *admin_.tokens.add_tokens();
    token.set_id(id);
    token.set_subject("workers/gpu03");
  }
  admin_.tokens.mutable_tokens(1)->set_subject("workers/gpu04");
  admin_.tokens.mutable_tokens(2)->mutable_revoke_time()->set_seconds(1);
  for (const char* const name : {"gpu03", "workers/gpu03"}) {
    admin_.revoked_tokens.clear();
    admin_.certificate_requests.clear();
    ASSERT_EQ(Frostline(std::string("worker revoke --connect $AT ") + name), 0)
        << output_;
    EXPECT_EQ(out_,
              "workers/gpu03 is shut out: tokens revoked 2, certificates 2\n");
    EXPECT_THAT(admin_.revoked_tokens, ElementsAre("t1", "t4"));
    ASSERT_THAT(admin_.certificate_requests, SizeIs(1));
    EXPECT_EQ(admin_.certificate_requests[0].subject(), "workers/gpu03");
  }
  EXPECT_EQ(Frostline("worker revoke 'a b' --connect $AT"), 2);
}

class TokenTest : public AccessCommandsTest {};

TEST_F(TokenTest, MayBeHeldToStudiesByLabels) {
  admin_.created.set_secret(kSecret);
  ASSERT_EQ(Frostline("token create --connect $AT --role viewer --subject vic "
                      "--study-label team=nlp --study-label site=a=b"),
            0)
      << output_;
  ASSERT_THAT(admin_.create_requests, SizeIs(1));
  const auto& labels = admin_.create_requests[0].study_labels();
  ASSERT_EQ(labels.size(), 2u);
  EXPECT_EQ(labels.at("team"), "nlp");
  EXPECT_EQ(labels.at("site"), "a=b");
  for (const char* const bad :
       {"--role worker --study-label a=b", "--role admin --study-label a=b",
        "--role viewer --study-label a", "--role viewer --study-label =b"}) {
    EXPECT_EQ(Frostline(std::string("token create --connect $AT ") + bad), 2);
    EXPECT_THAT(output_, HasSubstr("--study-label")) << bad;
  }
  EXPECT_THAT(admin_.create_requests, SizeIs(1));
}

TEST_F(TokenTest, ListShowsLabelsAndSingleUse) {
  v1::Token& token = *admin_.tokens.add_tokens();
  token.set_id("3f9c0a51d2e47b68");
  token.set_role(v1::ROLE_WORKER);
  token.set_single_use(true);
  (*token.mutable_study_labels())["team"] = "nlp";
  ASSERT_EQ(Frostline("token list --connect $AT"), 0) << output_;
  EXPECT_THAT(out_, AllOf(HasSubstr("STUDIES"), HasSubstr("team=nlp"),
                          HasSubstr("once")));
}

class AuditTest : public AccessCommandsTest {
 protected:
  AuditTest() {
    for (int sequence = 5; sequence > 0; --sequence) {
      v1::AuditEntry entry;
      entry.set_sequence(sequence);
      entry.mutable_time()->set_seconds(1'800'000'000 + sequence);
      entry.mutable_time()->set_nanos(12'000);
      entry.set_subject("ana");
      entry.set_role(v1::ROLE_RESEARCHER);
      entry.set_address("10.0.0.7:51234");
      entry.set_method("StudyService.StopStudy");
      entry.set_resource("studies/imdb");
      entry.set_request_id("r\"" + std::to_string(sequence));
      entry.set_outcome("OK");
      entry.set_chain_sha256(std::string(32, '\xAB'));
      admin_.entries.push_back(entry);
    }
  }
};

TEST_F(AuditTest, IsATableWithTheNewestLast) {
  ASSERT_EQ(Frostline("audit --connect $AT"), 0) << output_;
  EXPECT_THAT(out_, AllOf(HasSubstr("2027-01-15 08:00:01"), HasSubstr("ana"),
                          HasSubstr("StudyService.StopStudy"),
                          HasSubstr("studies/imdb"), HasSubstr("10.0.0.7")));
  EXPECT_LT(out_.find("08:00:01"), out_.find("08:00:05"));
  EXPECT_THAT(admin_.audit_requests, SizeIs(3));  // five in pages of two
}

TEST_F(AuditTest, AsksForWhatIsWanted) {
  ASSERT_EQ(Frostline("audit --connect $AT --study imdb --subject ana --method "
                      "StudyService.StopStudy --outcome OK --limit 3"),
            0)
      << output_;
  EXPECT_EQ(admin_.audit_requests[0].filter(),
            "study = \"studies/imdb\" AND subject = \"ana\" AND method = "
            "\"StudyService.StopStudy\" AND outcome = \"OK\"");
  EXPECT_THAT(admin_.audit_requests, SizeIs(2));
  EXPECT_EQ(admin_.audit_requests[1].page_size(), 1);
  EXPECT_THAT(out_, Not(HasSubstr("08:00:02")));
  for (const char* const bad :
       {"--limit 0", "--study 'A B'", "--subject 'a\"b'", "verify"}) {
    EXPECT_EQ(Frostline(std::string("audit --connect $AT ") + bad), 2) << bad;
  }
}

TEST_F(AuditTest, IsALineOfJsonForEach) {
  ASSERT_EQ(Frostline("audit --connect $AT --limit 1 --json"), 0) << output_;
  EXPECT_EQ(out_,
            "{\"sequence\":5,\"time\":\"2027-01-15T08:00:05.000012Z\","
            "\"subject\":\"ana\",\"role\":\"researcher\","
            "\"address\":\"10.0.0.7:51234\","
            "\"method\":\"StudyService.StopStudy\","
            "\"resource\":\"studies/imdb\",\"request_id\":\"r\\\"5\","
            "\"outcome\":\"OK\",\"chain_sha256\":\""
            "abababababababababababababababababababababababababababababababab"
            "\"}\n");
  admin_.entries.clear();
  ASSERT_EQ(Frostline("audit --connect $AT --json"), 0) << output_;
  EXPECT_EQ(out_, "");
}

class TlsTest : public AccessCommandsTest {};

TEST_F(TlsTest, TheCaIsInTheCoordinatorsChain) {
  ASSERT_EQ(Frostline("tls init --host 127.0.0.1"), 0) << output_;
  const std::string ca = Text("frostline-tls/ca.crt");
  const std::string chain = Text("frostline-tls/coordinator.crt");
  ASSERT_GT(chain.size(), ca.size());
  EXPECT_EQ(chain.substr(chain.size() - ca.size()), ca);
  EXPECT_NE(chain, ca);
  ASSERT_EQ(Frostline("tls issue --host gpu-head.lan"), 0) << output_;
  const std::string again = Text("frostline-tls/coordinator.crt");
  EXPECT_NE(again, chain);
  EXPECT_EQ(again.substr(again.size() - ca.size()), ca);
  ASSERT_EQ(Frostline("tls issue --role worker --name w1"), 0) << output_;
  EXPECT_THAT(Text("frostline-tls/worker-w1.crt"), Not(HasSubstr(ca)));
  // A second CA would end every certificate of the first.
  EXPECT_EQ(Frostline("tls init --host 127.0.0.1"), 4);
  EXPECT_EQ(Text("frostline-tls/ca.crt"), ca);
}

TEST_F(TlsTest, AFolderThatCannotBeLookedIntoIsAnError) {
  const std::string name(5000, 'x');
  EXPECT_EQ(Frostline("tls init --host 127.0.0.1 --folder " + name), 4);
  EXPECT_THAT(output_, HasSubstr("cannot look into"));
}

TEST_F(TlsTest, TheFingerprintIsThatOfTheCa) {
  ASSERT_EQ(Frostline("tls init --host 127.0.0.1 --folder t"), 0) << output_;
  ASSERT_EQ(Frostline("tls fingerprint t"), 0) << output_;
  const std::string digits = out_;
  EXPECT_EQ(digits.size(), 65u);
  ASSERT_EQ(Frostline("tls fingerprint t/ca.crt"), 0) << output_;
  EXPECT_EQ(out_, digits);
  ASSERT_EQ(
      Shell("python3 - <<'END'\nimport hashlib, ssl\nprint(hashlib.sha256("
            "ssl.PEM_cert_to_DER_cert(open('t/ca.crt').read()))"
            ".hexdigest())\nEND"),
      0)
      << output_;
  EXPECT_EQ(out_, digits);
  EXPECT_EQ(Frostline("tls fingerprint t/coordinator.crt"), 4);
  EXPECT_THAT(output_, HasSubstr("no CA"));
  EXPECT_EQ(Frostline("tls fingerprint nowhere"), 4);
}

}  // namespace
}  // namespace frostline::cli
