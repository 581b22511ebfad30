// SPDX-License-Identifier: Apache-2.0
#include <grpcpp/grpcpp.h>
#include <pty.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "frostline/v1/admin_service.grpc.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/temp_folder.h"
#include "tls/authority.h"
#include "tls/certificate.h"

namespace frostline::cli {

// The real binary in a folder and a home of its own, and a coordinator that
// answers what it is told and keeps what it was asked.

inline constexpr char kSecret[] =
    "frost_3f9c0a51d2e47b68_"
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

class ScriptedAdmin final : public v1::AdminService::Service {
 public:
  v1::Identity who;
  v1::CreateTokenReply created;
  v1::ListTokensReply tokens;
  v1::ListCertificatesReply certificates;
  std::vector<v1::AuditEntry> entries;  // the newest first
  int page = 2;                         // of certificates and entries

  std::vector<std::string> shown_tokens;  // of WhoAmI
  std::vector<v1::CreateTokenRequest> create_requests;
  std::vector<v1::RevokeCertificatesRequest> certificate_requests;
  std::vector<std::string> revoked_tokens;
  std::vector<v1::ListAuditEntriesRequest> audit_requests;

 private:
  grpc::Status WhoAmI(grpc::ServerContext* context, const v1::WhoAmIRequest*,
                      v1::Identity* reply) override;
  grpc::Status CreateToken(grpc::ServerContext*,
                           const v1::CreateTokenRequest* request,
                           v1::CreateTokenReply* reply) override;
  grpc::Status RevokeToken(grpc::ServerContext*,
                           const v1::RevokeTokenRequest* request,
                           v1::RevokeTokenReply*) override;
  grpc::Status ListTokens(grpc::ServerContext*, const v1::ListTokensRequest*,
                          v1::ListTokensReply* reply) override;
  grpc::Status ListCertificates(grpc::ServerContext*,
                                const v1::ListCertificatesRequest* request,
                                v1::ListCertificatesReply* reply) override;
  grpc::Status RevokeCertificates(grpc::ServerContext*,
                                  const v1::RevokeCertificatesRequest* request,
                                  v1::RevokeCertificatesReply* reply) override;
  grpc::Status ListAuditEntries(grpc::ServerContext*,
                                const v1::ListAuditEntriesRequest* request,
                                v1::ListAuditEntriesReply* reply) override;
};

class AccessCommandsTest : public ::testing::Test {
 protected:
  AccessCommandsTest();
  ~AccessCommandsTest() override { server_->Shutdown(); }

  // Words for the shell, in the folder, where HOME is `home` and $AT the
  // coordinator; what is said is in output_, on standard output alone in out_.
  int Shell(const std::string& command);
  int Frostline(const std::string& arguments) {
    return Shell("frostline " + arguments);
  }
  std::string Text(const std::string& name) const;
  void Write(const std::string& name, const std::string& text,
             unsigned mode = 0600) const;
  bool Exists(const std::string& name) const;

  TempFolder folder_;
  ScriptedAdmin admin_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
  std::string output_;
  std::string out_;
};

namespace {

// Where the page begins that `token` names.
int StartOf(const std::string& token) {
  return token.empty() ? 0 : std::stoi(token);
}

template <typename All, typename Take>
std::string TakePage(const All& all, const std::string& token, int size,
                     const Take& take) {
  const int begin = StartOf(token);
  const int end = std::min(begin + size, static_cast<int>(all.size()));
  // A vector, or a message's field: they count in other types.
  for (int i = begin; i < end; ++i) take(*std::next(all.begin(), i));
  return end < static_cast<int>(all.size()) ? std::to_string(end) : "";
}

}  // namespace

grpc::Status ScriptedAdmin::WhoAmI(grpc::ServerContext* context,
                                   const v1::WhoAmIRequest*,
                                   v1::Identity* reply) {
  const auto& metadata = context->client_metadata();
  const auto found = metadata.find("authorization");
  const std::string shown =
      found == metadata.end()
          ? ""
          : std::string(found->second.data(), found->second.size());
  shown_tokens.push_back(shown);
  if (!shown.empty() && shown != std::string("Bearer ") + kSecret) {
    return {grpc::StatusCode::UNAUTHENTICATED, "no such token"};
  }
  *reply = who;
  return grpc::Status::OK;
}

grpc::Status ScriptedAdmin::CreateToken(grpc::ServerContext*,
                                        const v1::CreateTokenRequest* request,
                                        v1::CreateTokenReply* reply) {
  create_requests.push_back(*request);
  *reply = created;
  return grpc::Status::OK;
}

grpc::Status ScriptedAdmin::RevokeToken(grpc::ServerContext*,
                                        const v1::RevokeTokenRequest* request,
                                        v1::RevokeTokenReply*) {
  revoked_tokens.push_back(request->id());
  return grpc::Status::OK;
}

grpc::Status ScriptedAdmin::ListTokens(grpc::ServerContext*,
                                       const v1::ListTokensRequest*,
                                       v1::ListTokensReply* reply) {
  *reply = tokens;
  return grpc::Status::OK;
}

grpc::Status ScriptedAdmin::ListCertificates(
    grpc::ServerContext*, const v1::ListCertificatesRequest* request,
    v1::ListCertificatesReply* reply) {
  reply->set_next_page_token(TakePage(
      certificates.certificates(), request->page_token(), page,
      [&](const v1::Certificate& one) { *reply->add_certificates() = one; }));
  return grpc::Status::OK;
}

grpc::Status ScriptedAdmin::RevokeCertificates(
    grpc::ServerContext*, const v1::RevokeCertificatesRequest* request,
    v1::RevokeCertificatesReply* reply) {
  certificate_requests.push_back(*request);
  reply->set_revoked(2);
  return grpc::Status::OK;
}

grpc::Status ScriptedAdmin::ListAuditEntries(
    grpc::ServerContext*, const v1::ListAuditEntriesRequest* request,
    v1::ListAuditEntriesReply* reply) {
  audit_requests.push_back(*request);
  reply->set_next_page_token(TakePage(
      entries, request->page_token(), std::min(page, request->page_size()),
      [&](const v1::AuditEntry& one) { *reply->add_entries() = one; }));
  return grpc::Status::OK;
}

AccessCommandsTest::AccessCommandsTest() {
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                           &port);
  builder.RegisterService(&admin_);
  server_ = builder.BuildAndStart();
  address_ = "127.0.0.1:" + std::to_string(port);
  admin_.who.set_subject("ana");
  admin_.who.set_role(v1::ROLE_RESEARCHER);
  admin_.who.set_proof("token");
  admin_.who.mutable_expire_time()->set_seconds(1'800'000'000);
  std::filesystem::create_directory(folder_.File("home"));
}

int AccessCommandsTest::Shell(const std::string& command) {
  const std::string script = folder_.File("command.sh");
  std::ofstream(script) << "cd '" << folder_.path().string()
                        << "'\nunset XDG_CONFIG_HOME ${!FROSTLINE_*}\n"
                        << "export HOME=$PWD/home AT=" << address_
                        << " PATH=" << std::getenv("FROSTLINE_BIN_DIR")
                        << ":$PATH\n"
                        << command << "\n";
  const int status = std::system(("bash '" + script + "' </dev/null >'" +
                                  folder_.File("out.txt") + "' 2>'" +
                                  folder_.File("err.txt") + "'")
                                     .c_str());
  out_ = Text("out.txt");
  output_ = out_ + Text("err.txt");
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string AccessCommandsTest::Text(const std::string& name) const {
  std::ifstream file(folder_.File(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void AccessCommandsTest::Write(const std::string& name, const std::string& text,
                               unsigned mode) const {
  std::ofstream(folder_.File(name), std::ios::binary) << text;
  chmod(folder_.File(name).c_str(), mode);
}

bool AccessCommandsTest::Exists(const std::string& name) const {
  return std::filesystem::exists(folder_.File(name));
}

namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

// Invitations, certificates, labelled tokens and the audit, on the command
// line.

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

// login, logout and context as a person types them.

constexpr char kFolder[] = "home/.config/frostline/contexts/127.0.0.1";

class LoginTest : public AccessCommandsTest {
 protected:
  void LogIn(const std::string& more = "") {
    Write("ana.token", std::string(kSecret) + "\n");
    ASSERT_EQ(Frostline("login $AT --token-file ana.token " + more), 0)
        << output_;
  }
};

TEST_F(LoginTest, AsksWhoOneIsThenKeepsIt) {
  LogIn();
  EXPECT_EQ(out_,
            "ana, researcher, by token, until 2027-01-15 08:00:00Z\n"
            "context 127.0.0.1 (" +
                address_ + ") is the current one\n");
  EXPECT_EQ(Text(std::string(kFolder) + "/token"), std::string(kSecret) + "\n");
  EXPECT_EQ(Text(std::string(kFolder) + "/connect"), address_ + "\n");
  ASSERT_EQ(Frostline("whoami"), 0) << output_;
  EXPECT_THAT(out_, HasSubstr("at " + address_ +
                              ", context 127.0.0.1 (the current one)\n"));
  EXPECT_THAT(admin_.shown_tokens,
              ElementsAre("Bearer " + std::string(kSecret),
                          "Bearer " + std::string(kSecret)));
}

TEST_F(LoginTest, KeepsNothingOfATokenThatIsRefused) {
  Write("bad.token", "frost_0000000000000000_beef\n");
  EXPECT_NE(Frostline("login $AT --token-file bad.token"), 0);
  EXPECT_FALSE(Exists("home/.config"));
  EXPECT_NE(Frostline("login 127.0.0.1:1 --token-file bad.token"), 0);
  Write("open.token", kSecret, 0644);
  EXPECT_EQ(Frostline("login $AT --token-file open.token"), 4);
  EXPECT_THAT(output_, HasSubstr("FL-4014"));
  EXPECT_FALSE(Exists("home/.config"));
  EXPECT_EQ(Frostline("login gpu-head.lan:7443 --token-file bad.token"), 2);
  EXPECT_THAT(output_, HasSubstr("in plaintext"));
}

TEST_F(LoginTest, ReadsTheTokenFromAPipe) {
  Write("ana.token", std::string(kSecret) + "\n");
  ASSERT_EQ(Shell("frostline login $AT --name lab <ana.token"), 0) << output_;
  EXPECT_THAT(out_, HasSubstr("context lab"));
  EXPECT_EQ(Shell("frostline login $AT --name lab </dev/null"), 2);
  EXPECT_THAT(output_, HasSubstr("standard input has no token"));
  EXPECT_EQ(Shell("printf 'a b' | frostline login $AT --name lab"), 2);
  EXPECT_THAT(output_, Not(HasSubstr("a b")));
}

// Types `typed` at a terminal; what it showed.
TEST_F(LoginTest, ATerminalDoesNotShowTheToken) {
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    setenv("HOME", folder_.File("home").c_str(), 1);
    unsetenv("XDG_CONFIG_HOME");
    const std::string program =
        std::string(std::getenv("FROSTLINE_BIN_DIR")) + "/frostline";
    execl(program.c_str(), "frostline", "login", address_.c_str(), nullptr);
    _exit(127);
  }
  std::string shown;
  char c = '\0';
  bool typed = false;
  while (read(terminal, &c, 1) == 1) {
    shown += c;
    if (typed || !shown.ends_with("token: ")) continue;
    const std::string line = std::string(kSecret) + "\n";
    ASSERT_EQ(write(terminal, line.data(), line.size()),
              static_cast<ssize_t>(line.size()));
    typed = true;
  }
  int status = 0;
  waitpid(child, &status, 0);
  close(terminal);
  EXPECT_EQ(WEXITSTATUS(status), 0) << shown;
  EXPECT_THAT(shown, AllOf(StartsWith("token: "), HasSubstr("ana, researcher"),
                           Not(HasSubstr("0123456789abcdef"))));
}

TEST_F(LoginTest, ListsShowsAndChangesContexts) {
  LogIn("--name lab");
  LogIn("--name home");
  ASSERT_EQ(Frostline("context list"), 0);
  EXPECT_THAT(out_, AllOf(HasSubstr("home"), HasSubstr("lab"),
                          HasSubstr("3f9c0a51d2e47b68"),
                          Not(HasSubstr("0123456789abcdef"))));
  ASSERT_EQ(Frostline("context use lab"), 0) << output_;
  ASSERT_EQ(Frostline("context show"), 0) << output_;
  EXPECT_THAT(out_, AllOf(HasSubstr("lab (current)"), HasSubstr(address_)));
  for (const char* const list :
       {"context list --json", "context show --json"}) {
    ASSERT_EQ(Frostline(list), 0);
    EXPECT_THAT(out_, AllOf(HasSubstr("\"current\": true"),
                            HasSubstr("\"token_id\": \"3f9c0a51d2e47b68\""),
                            Not(HasSubstr("0123456789abcdef"))));
  }
  ASSERT_EQ(Frostline("logout"), 0) << output_;
  EXPECT_THAT(output_, AllOf(HasSubstr("context lab is removed"),
                             HasSubstr("token revoke 3f9c0a51d2e47b68")));
  EXPECT_FALSE(Exists("home/.config/frostline/contexts/lab"));
  EXPECT_EQ(Frostline("logout"), 2);
  EXPECT_THAT(output_, HasSubstr("no context is the current one"));
  EXPECT_EQ(Frostline("context use lab"), 2);
  EXPECT_THAT(output_, HasSubstr("there is no context 'lab'"));
  ASSERT_EQ(Frostline("context remove home"), 0) << output_;
  ASSERT_EQ(Frostline("context list"), 0);
  EXPECT_THAT(output_, HasSubstr("frostline login HOST:PORT"));
}

TEST_F(LoginTest, SaysWhyACoordinatorIsAsked) {
  LogIn("--name lab");
  LogIn("--name home");
  const auto why = [this](const std::string& command) {
    EXPECT_EQ(Shell(command), 0) << output_;
    return out_.substr(out_.find("at 127"));
  };
  const std::string at = "at " + address_;
  EXPECT_EQ(why("frostline whoami"), at + ", context home (the current one)\n");
  EXPECT_EQ(why("FROSTLINE_CONTEXT=lab frostline whoami"),
            at + ", context lab (FROSTLINE_CONTEXT)\n");
  EXPECT_EQ(why("FROSTLINE_CONTEXT=lab FROSTLINE_CONNECT=$AT frostline whoami"),
            at + " (FROSTLINE_CONNECT)\n");
  EXPECT_EQ(why("FROSTLINE_CONNECT=x:1 frostline whoami --context lab"),
            at + ", context lab (--context)\n");
  EXPECT_EQ(why("FROSTLINE_CONNECT=x:1 frostline --connect $AT whoami"),
            at + " (--connect)\n");
  EXPECT_EQ(Frostline("whoami --connect $AT --context lab"), 2);
  EXPECT_EQ(Frostline("whoami --context lba"), 2);
  EXPECT_THAT(output_, HasSubstr("did you mean 'lab'?"));
}

TEST_F(LoginTest, RefusesAContextThatOthersMayRead) {
  LogIn();
  Shell("chmod 644 " + std::string(kFolder) + "/token");
  EXPECT_EQ(Frostline("whoami"), 4);
  EXPECT_THAT(output_, AllOf(HasSubstr("FL-4014"), HasSubstr("chmod 600")));
  ASSERT_EQ(Frostline("context list"), 0) << output_;
  EXPECT_THAT(out_, HasSubstr("others may read"));
  EXPECT_EQ(Frostline("whoami --connect $AT"), 0) << output_;
  EXPECT_EQ(Frostline("logout"), 0) << output_;
}

TEST_F(LoginTest, DoesNotTakeOverTheNameOfAnother) {
  LogIn("--name lab");
  Write("home/.config/frostline/contexts/lab/connect", "other.lan:7443\n");
  EXPECT_EQ(Frostline("login $AT --token-file ana.token --name lab"), 2);
  EXPECT_THAT(output_, HasSubstr("another coordinator, other.lan:7443"));
  EXPECT_EQ(Frostline("login $AT --token-file ana.token --name 'Big One'"), 2);
  EXPECT_EQ(Frostline("login nowhere --token-file ana.token"), 2);
  EXPECT_EQ(Frostline("login $AT --connect $AT --token-file ana.token"), 2);
  EXPECT_EQ(Frostline("login $AT --fingerprint abc --token-file ana.token"), 2);
}

// A coordinator over TLS, of which one has the fingerprint alone.
class FingerprintTest : public LoginTest {
 protected:
  FingerprintTest() {
    const WallMicros now = SystemClock().Wall();
    const auto authority = tls::MakeAuthority("test", now);
    const auto made = tls::Issue(
        *authority, {.name = "c", .hosts = {"127.0.0.1"}, .uri = ""}, now);
    ca_pem_ = authority->certificate_pem;
    fingerprint_ = tls::ReadCertificate(ca_pem_)->sha256;
    grpc::SslServerCredentialsOptions options;
    options.pem_key_cert_pairs.push_back(
        {made->key_pem.Reveal(), made->certificate_pem + ca_pem_});
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::SslServerCredentials(options),
                             &port);
    builder.RegisterService(&admin_);
    tls_server_ = builder.BuildAndStart();
    tls_address_ = "127.0.0.1:" + std::to_string(port);
    Write("ana.token", std::string(kSecret) + "\n");
  }
  ~FingerprintTest() override { tls_server_->Shutdown(); }

  std::string ca_pem_;
  std::string fingerprint_;
  std::unique_ptr<grpc::Server> tls_server_;
  std::string tls_address_;
};

TEST_F(FingerprintTest, IsEnoughToLogIn) {
  ASSERT_EQ(Frostline("login " + tls_address_ + "#" + fingerprint_ +
                      " --token-file ana.token"),
            0)
      << output_;
  EXPECT_EQ(Text(std::string(kFolder) + "/ca.crt"), ca_pem_);
  EXPECT_EQ(Text(std::string(kFolder) + "/connect"), tls_address_ + "\n");
  ASSERT_EQ(Frostline("whoami"), 0) << output_;
  ASSERT_EQ(Frostline("context show"), 0) << output_;
  EXPECT_THAT(out_, HasSubstr(fingerprint_));
  // As openssl writes it, and beside the CA itself.
  std::string shouted;
  for (std::size_t i = 0; i < fingerprint_.size(); ++i) {
    if (i > 0 && i % 2 == 0) shouted += ':';
    shouted += static_cast<char>(std::toupper(fingerprint_[i]));
  }
  Write("ca.crt", ca_pem_);
  ASSERT_EQ(Frostline("login " + tls_address_ + " --tls-ca ca.crt " +
                      "--token-file ana.token --fingerprint " + shouted),
            0)
      << output_;
}

TEST_F(FingerprintTest, ASwappedCoordinatorGetsNoToken) {
  const std::string other(64, 'a');
  EXPECT_EQ(Frostline("login " + tls_address_ + "#" + other +
                      " --token-file ana.token"),
            4);
  EXPECT_THAT(output_, AllOf(HasSubstr("FL-4020"), Not(HasSubstr(kSecret))));
  Write("ca.crt", ca_pem_);
  EXPECT_EQ(Frostline("login " + tls_address_ + " --tls-ca ca.crt " +
                      "--token-file ana.token --fingerprint " + other),
            4);
  EXPECT_THAT(output_, HasSubstr("FL-4020"));
  EXPECT_EQ(Frostline("login " + tls_address_ + "#" + other +
                      " --token-file ana.token --fingerprint " + fingerprint_),
            2);
  EXPECT_THAT(admin_.shown_tokens, IsEmpty());
  EXPECT_FALSE(Exists("home/.config"));
}

TEST_F(LoginTest, WithoutAHomeCommandsWorkAndLoginSaysWhy) {
  LogIn();
  EXPECT_EQ(Shell("unset HOME; frostline --connect $AT whoami"), 0) << output_;
  EXPECT_EQ(Shell("unset HOME; frostline context list"), 0) << output_;
  EXPECT_EQ(Shell("unset HOME; frostline login $AT --token-file ana.token"), 4);
  EXPECT_THAT(output_, HasSubstr("neither HOME nor XDG_CONFIG_HOME"));
  ASSERT_EQ(Shell("unset HOME; export XDG_CONFIG_HOME=$PWD/xdg; "
                  "frostline login $AT --token-file ana.token"),
            0)
      << output_;
  EXPECT_TRUE(Exists("xdg/frostline/contexts/127.0.0.1/token"));
}

}  // namespace
}  // namespace frostline::cli
