// SPDX-License-Identifier: Apache-2.0
//
// What other sites, strangers and hostile texts can do to the edge for
// browsers: nothing. And whose studies are whose, as over gRPC.
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/wire_values.h"
#include "tests/server/example_study.h"
#include "tests/server/http/http_fixture.h"
#include "tests/support/record.h"
#include "tests/support/temp_folder.h"
#include "tls/authority.h"
#include "tls/private_file.h"

namespace frostline::server {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kUpdateStudy[] = "/frostline.v1.StudyService/UpdateStudy";
constexpr char kCreateStudy[] = "/frostline.v1.StudyService/CreateStudy";

std::string JsonOf(const google::protobuf::Message& message) {
  std::string json;
  EXPECT_TRUE(google::protobuf::util::MessageToJsonString(message, &json).ok());
  return json;
}

class HttpSecurityTest : public HttpEdgeTest {
 protected:
  // Serves beyond loopback, with a certificate for localhost.
  void ServeWithTls() {
    for (const std::string& name : {std::string("old"), std::string("new")}) {
      ASSERT_OK_AND_ASSIGN(authorities_[name],
                           tls::MakeAuthority(name, SystemClock().Wall()));
      std::ofstream(folder_.File(name + ".crt"))
          << authorities_[name].certificate_pem;
    }
    ASSERT_OK(Renew("old"));
    HttpOptions options{.listen = "0.0.0.0:0", .allows_writes = true};
    EXPECT_THAT(HttpEdge::Check(options),
                FailsAt(ErrorId::kAddressNotLoopback, "http-listen"));
    options.hosts = {"localhost"};
    options.tls_certificate = folder_.File("page.crt");
    options.tls_key = folder_.File("page.key");
    Serve(options);
    client_->set_ca_cert_path(folder_.File("old.crt").c_str());
  }

  // The cookie of who logs in.
  httplib::Headers LogIn(const std::string& token) {
    const httplib::Response in =
        Post("/login", absl::StrCat(R"({"token":")", token, R"("})"));
    EXPECT_EQ(in.status, 204);
    const std::string cookie = in.get_header_value("Set-Cookie");
    return {{"Cookie", cookie.substr(0, cookie.find(';'))}};
  }

  // A certificate by one of two authorities, "old" and "new".
  absl::StatusOr<tls::KeyPair> Issue(const std::string& by) {
    return tls::Issue(authorities_.at(by),
                      {.name = "page", .hosts = {"localhost"}, .uri = ""},
                      SystemClock().Wall());
  }
  absl::Status Renew(const std::string& by) {
    ASSIGN_OR_RETURN(const tls::KeyPair made, Issue(by));
    std::ofstream(folder_.File("page.crt")) << made.certificate_pem;
    return tls::WritePrivateFile(folder_.File("page.key"), made.key_pem, "");
  }
  // A new connection that trusts this authority only; empty: anyone.
  bool CanConnect(const std::string& trusted) const {
    const std::string url = edge_->url();
    httplib::Client client(url.substr(0, url.find('/', sizeof("https://"))));
    if (trusted.empty()) {
      client.enable_server_certificate_verification(false);
    } else {
      client.set_ca_cert_path(folder_.File(trusted + ".crt").c_str());
    }
    const httplib::Result got = client.Get("/");
    return got && got->status == 200;
  }

  TempFolder folder_;
  std::map<std::string, tls::KeyPair> authorities_;
};

TEST_F(HttpSecurityTest, BeyondLoopbackThereIsTlsAndEverybodyNeedsAToken) {
  const std::string token = Token(v1::ROLE_VIEWER, "ana");
  ServeWithTls();
  EXPECT_THAT(edge_->url(), StartsWith("https://localhost:"));
  EXPECT_EQ(Get("/").status, 200) << "the page itself tells nothing";
  EXPECT_EQ(Ask(kListStudies, "{}").status, 401);
  EXPECT_EQ(Ask(kListStudies, "{}", With(token)).status, 200);
  EXPECT_EQ(Get("/", {{"Host", "evil.example"}}).status, 403);
  const httplib::Response in =
      Post("/login", absl::StrCat(R"({"token":")", token, R"("})"));
  EXPECT_THAT(in.get_header_value("Set-Cookie"),
              HasSubstr("; HttpOnly; SameSite=Strict; Secure"));
  EXPECT_THAT(in.get_header_value("Strict-Transport-Security"),
              StartsWith("max-age="));
  // Who speaks plain HTTP learns nothing.
  std::string plain = edge_->url().substr(sizeof("https://") - 1);
  plain.pop_back();
  httplib::Client unencrypted("http://" + plain);
  const httplib::Result got = unencrypted.Get("/");
  EXPECT_TRUE(!got || got->status >= 400);
}

TEST_F(HttpSecurityTest, AKeyOfAnotherCertificateIsRefusedAtTheStart) {
  HttpOptions options{.listen = "0.0.0.0:0",
                      .tls_certificate = folder_.File("none.crt"),
                      .tls_key = folder_.File("none.key")};
  EXPECT_THAT(HttpEdge::Listen(options, coordinator_->verbs(), *gate_, nullptr,
                               nullptr),
              FailsAt(ErrorId::kTlsFile, "--tls-cert"));
}

TEST_F(HttpSecurityTest, ARenewedCertificateIsShownToTheNextConnection) {
  ServeWithTls();
  EXPECT_TRUE(CanConnect("old"));
  EXPECT_FALSE(CanConnect("new"));
  // A connection that is open goes on.
  client_->set_keep_alive(true);
  ASSERT_EQ(Get("/").status, 200);
  ASSERT_OK(Renew("new"));
  EXPECT_EQ(Get("/").status, 200);
  EXPECT_TRUE(CanConnect("new"));
  EXPECT_FALSE(CanConnect("old"));
}

TEST_F(HttpSecurityTest, AfterABrokenRenewalWhatWasGoodIsShownOn) {
  ServeWithTls();
  // The other's key alone, so that it is not the certificate's.
  ASSERT_OK_AND_ASSIGN(const tls::KeyPair other, Issue("new"));
  ASSERT_OK(tls::WritePrivateFile(folder_.File("page.key"), other.key_pem, ""));
  EXPECT_TRUE(CanConnect("old"));
  std::ofstream(folder_.File("page.crt")) << "no certificate";
  EXPECT_TRUE(CanConnect("old"));
  std::filesystem::remove(folder_.File("page.crt"));
  EXPECT_TRUE(CanConnect("old"));
  // The renewal is finished after all.
  std::ofstream(folder_.File("page.crt")) << other.certificate_pem;
  EXPECT_TRUE(CanConnect("new"));
}

TEST_F(HttpSecurityTest, CertificatesChangeWhileManyConnectionsBegin) {
  ServeWithTls();
  std::atomic<bool> is_over = false;
  std::atomic<int> begun = 0;
  std::atomic<int> failed = 0;
  std::vector<std::thread> browsers;
  browsers.reserve(4);
  for (int k = 0; k < 4; ++k) {
    browsers.emplace_back([&] {
      while (!is_over || begun < 20) {
        failed += CanConnect("") ? 0 : 1;
        ++begun;
      }
    });
  }
  for (int k = 0; k < 10; ++k) {
    const std::string by = k % 2 == 0 ? "new" : "old";
    EXPECT_OK(Renew(by));
    EXPECT_TRUE(CanConnect(by));
  }
  is_over = true;
  for (std::thread& one : browsers) one.join();
  EXPECT_EQ(failed, 0);
}

TEST_F(HttpSecurityTest, AChangeShowsWhatOnlyThePageCanHaveRead) {
  const std::string token = Token(v1::ROLE_ADMIN, "root");
  const std::string other = Token(v1::ROLE_ADMIN, "other");
  Serve({.listen = "127.0.0.1:0", .allows_writes = true},
        /*require_tokens=*/true);
  const httplib::Headers cookie = LogIn(token);
  EXPECT_EQ(Post(kPauseStudy, Pause(), cookie).status, 403);
  for (const std::string& wrong : {std::string("0"), std::string(32, 'a'),
                                   Session(), Session(LogIn(other))}) {
    httplib::Headers headers = cookie;
    headers.emplace("X-Frostline-Session", wrong);
    EXPECT_EQ(Post(kPauseStudy, Pause(), headers).status, 403) << wrong;
  }
  EXPECT_EQ(State(), v1::STUDY_STATE_ACTIVE);
  httplib::Headers headers = cookie;
  headers.emplace("X-Frostline-Session", Session(cookie));
  EXPECT_EQ(Post(kPauseStudy, Pause(), headers).status, 200);
  EXPECT_EQ(State(), v1::STUDY_STATE_PAUSED);
  // What it shows is for this process and for no other site.
  const httplib::Response foreign =
      Get("/session", {{"Sec-Fetch-Site", "cross-site"}});
  EXPECT_EQ(foreign.status, 403);
  EXPECT_THAT(Get("/session", cookie).get_header_value("Cache-Control"),
              HasSubstr("no-store"));
}

TEST_F(HttpSecurityTest, ARevokedTokenEndsItsSessionAtTheNextCall) {
  v1::CreateTokenRequest request;
  request.set_request_id(RandomHexId());
  request.set_role(v1::ROLE_VIEWER);
  request.set_subject("ana");
  const auto admin = v1::AdminService::NewStub(channel_);
  ASSERT_OK_AND_ASSIGN(
      const auto made,
      Call(*admin, &v1::AdminService::Stub::CreateToken, request));
  Serve({.listen = "127.0.0.1:0"}, /*require_tokens=*/true);
  const httplib::Headers cookie = LogIn(made.secret());
  ASSERT_EQ(Ask(kListStudies, "{}", cookie).status, 200);
  v1::RevokeTokenRequest revoke;
  revoke.set_request_id(RandomHexId());
  revoke.set_id(made.token().id());
  ASSERT_OK(Call(*admin, &v1::AdminService::Stub::RevokeToken, revoke));
  const httplib::Response out = Ask(kListStudies, "{}", cookie);
  EXPECT_EQ(out.status, 401);
  EXPECT_THAT(out.body, HasSubstr(R"("code":"unauthenticated")"));
}

TEST_F(HttpSecurityTest, AnswersSayWhatTimeItIsHere) {
  for (const char* const path : {"/", "/session", "/none"}) {
    absl::Time said;
    std::string why;
    ASSERT_TRUE(absl::ParseTime("%a, %d %b %Y %H:%M:%S GMT",
                                Get(path).get_header_value("Date"), &said,
                                &why))
        << path << ": " << why;
    EXPECT_LT(absl::Now() - said, absl::Hours(1)) << path;
    EXPECT_LE(said, absl::Now()) << path;
  }
}

TEST_F(HttpSecurityTest, AnExpiredTokenEndsItsSession) {
  v1::CreateTokenRequest request;
  request.set_request_id(RandomHexId());
  request.set_role(v1::ROLE_VIEWER);
  request.set_subject("ana");
  request.mutable_lifetime()->set_seconds(1);
  const auto admin = v1::AdminService::NewStub(channel_);
  ASSERT_OK_AND_ASSIGN(
      const auto made,
      Call(*admin, &v1::AdminService::Stub::CreateToken, request));
  Serve({.listen = "127.0.0.1:0"}, /*require_tokens=*/true);
  while (clock_.Wall() <
         proto::TimestampFromProto(made.token().expire_time())) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  const httplib::Response out = Ask(kListStudies, "{}", With(made.secret()));
  EXPECT_EQ(out.status, 401);
  EXPECT_THAT(out.body, HasSubstr("expired"));
}

// A token in an address would be in histories and logs.
TEST_F(HttpSecurityTest, NoTokenIsTakenFromAnAddress) {
  const std::string token = Token(v1::ROLE_ADMIN, "root");
  Serve({.listen = "127.0.0.1:0"}, /*require_tokens=*/true);
  for (const char* const name :
       {"token", "access_token", "authorization", "Authorization", "cookie"}) {
    EXPECT_EQ(Get(absl::StrCat(kListStudies, "?message={}&", name, "=", token))
                  .status,
              401)
        << name;
  }
  EXPECT_EQ(Get(absl::StrCat("/login?token=", token)).status, 404);
}

// Who may change which study: as tests/server/rpc/ownership_test.cc has it.
TEST_F(HttpSecurityTest, AStudyIsItsOwnersThroughHttpToo) {
  const std::string ana = Token(v1::ROLE_RESEARCHER, "ana");
  const std::string ben = Token(v1::ROLE_RESEARCHER, "ben");
  const std::string viewer = Token(v1::ROLE_VIEWER, "eve");
  const std::string admin = Token(v1::ROLE_ADMIN, "root");
  Serve({.listen = "127.0.0.1:0", .allows_writes = true},
        /*require_tokens=*/true);
  v1::CreateStudyRequest create = ExampleStudy("anas", 8);
  create.set_request_id(RandomHexId());
  ASSERT_EQ(Post(kCreateStudy, JsonOf(create), With(viewer)).status, 403);
  const httplib::Response made = Post(kCreateStudy, JsonOf(create), With(ana));
  ASSERT_EQ(made.status, 200) << made.body;
  EXPECT_THAT(made.body, HasSubstr(R"("owner":"ana")"));
  const auto call = [&](const char* verb, const std::string& who) {
    return Post(absl::StrCat("/frostline.v1.StudyService/", verb),
                absl::StrCat(R"({"name":"studies/anas","request_id":")",
                             RandomHexId(), R"("})"),
                With(who))
        .status;
  };
  EXPECT_EQ(call("PauseStudy", ben), 403);
  EXPECT_EQ(call("PauseStudy", viewer), 403);
  EXPECT_EQ(call("PauseStudy", ana), 200);
  EXPECT_EQ(call("ResumeStudy", ben), 403);
  EXPECT_EQ(call("ResumeStudy", admin), 200);
  EXPECT_EQ(call("StopStudy", ben), 403);
  EXPECT_EQ(call("StopStudy", ana), 200);
}

TEST_F(HttpSecurityTest, AStudyThatIsDeletedWhileOpenIsSaidToBeGone) {
  v1::DeleteStudyRequest request;
  request.set_request_id(RandomHexId());
  request.set_name("studies/imdb");
  request.set_force(true);
  ASSERT_OK(Call(*studies_, &v1::StudyService::Stub::DeleteStudy, request));
  for (const char* const verb : {"GetStudy", "GetStudyDelta"}) {
    const httplib::Response gone =
        Ask(absl::StrCat("/frostline.v1.StudyService/", verb),
            R"({"name":"studies/imdb"})");
    EXPECT_EQ(gone.status, 404) << verb;
    EXPECT_THAT(gone.body, HasSubstr(R"("id":"FL-2001")")) << verb;
  }
}

// Texts that a browser, a shell, SQL or a spreadsheet would run, with whatever
// ends or escapes them.
std::vector<std::string> HostileTexts(std::size_t count) {
  const std::vector<std::string> cores = {"<script>alert(1)</script>",
                                          "<img src=x onerror=alert(1)>",
                                          "</script><svg/onload=alert(1)>",
                                          "javascript:alert(1)",
                                          "\"><iframe src=//evil.example>",
                                          "'; DROP TABLE trials; --",
                                          "=HYPERLINK(\"//evil.example\")",
                                          "${7*7}{{7*7}}<%= 7*7 %>",
                                          "\r\nSet-Cookie: a=b\r\n\r\n<html>",
                                          "../../../../etc/passwd",
                                          "\xE2\x80\xAE"
                                          "gnp.exe",
                                          "\xE2\x80\xA8\xE2\x80\xA9",
                                          "%00%0d%0a",
                                          "\x1b]0;owned\x07",
                                          "]]>&xxe;<!--",
                                          "\\u003cscript\\u003e"};
  const std::vector<std::string> ends = {
      "",   "\"",   "'",   "\\", "`", "<", "-->", "\n",
      "\t", "\x01", "]]>", "*/", "{", "}", ",",   "\xF0\x9F\xA7\x8A"};
  std::vector<std::string> texts;
  for (std::size_t i = 0; texts.size() < count; ++i) {
    texts.push_back(
        absl::StrCat(ends[i / 16 % 16], cores[i % 16], ends[i / 256 % 16], i));
  }
  return texts;
}

void CheckIsData(const httplib::Response& got, const std::string& of) {
  EXPECT_THAT(got.status, AnyOf(200, 400, 403, 404, 409, 413, 501)) << of;
  EXPECT_EQ(got.get_header_value("Content-Type"), kJson) << of;
  EXPECT_EQ(got.get_header_value("X-Content-Type-Options"), "nosniff") << of;
  EXPECT_FALSE(got.has_header("Set-Cookie")) << of;
  EXPECT_THAT(got.body, Not(HasSubstr("<"))) << of;
  google::protobuf::Struct parsed;
  EXPECT_TRUE(
      google::protobuf::util::JsonStringToMessage(got.body, &parsed).ok())
      << got.body;
}

// Sets the n-th text field, at any depth but without going round; false when
// there are fewer.
bool SetText(google::protobuf::Message& message, const std::string& text,
             int* n, int depth = 0) {
  using google::protobuf::FieldDescriptor;
  const auto& reflection = *message.GetReflection();
  const auto& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor* const field = type.field(i);
    if (field->type() == FieldDescriptor::TYPE_STRING) {
      if ((*n)-- > 0) continue;
      if (field->is_repeated()) {
        reflection.AddString(&message, field, text);
      } else {
        reflection.SetString(&message, field, text);
      }
      return true;
    }
    if (field->type() != FieldDescriptor::TYPE_MESSAGE || depth == 3) continue;
    google::protobuf::Message* const part =
        field->is_repeated() ? reflection.AddMessage(&message, field)
                             : reflection.MutableMessage(&message, field);
    if (SetText(*part, text, n, depth + 1)) return true;
    if (field->is_repeated()) {
      reflection.RemoveLast(&message, field);
    } else {
      reflection.ClearField(&message, field);
    }
  }
  return false;
}

// 5,000 texts through every text field of every verb that is served.
TEST_F(HttpSecurityTest, HostileTextsInRequestsComeBackAsData) {
  Serve({.listen = "127.0.0.1:0", .allows_writes = true});
  std::vector<std::pair<std::string, std::string>> asked;  // path, field
  const std::vector<std::string> texts = HostileTexts(5000);
  std::size_t at = 0;
  int fields = 0;
  Record record;
  while (at < texts.size()) {
    for (const auto& [name, verb] : coordinator_->verbs().unary) {
      const std::size_t dot = name.rfind('.');
      const std::string path =
          absl::StrCat("/", name.substr(0, dot), "/", name.substr(dot + 1));
      for (int field = 0; at < texts.size(); ++field) {
        const MessagePtr request(verb.request->New());
        int n = field;
        if (!SetText(*request, texts[at], &n)) break;
        CheckIsData(Post(path, JsonOf(*request)), path);
        ++at;
        ++fields;
      }
    }
    ASSERT_GT(fields, 200) << "of all verbs together";
  }
  EXPECT_EQ(at, texts.size());
  record["texts"] = static_cast<std::int64_t>(at);
}

TEST_F(HttpSecurityTest, HostileTextsThatAreKeptComeBackAsTheyWere) {
  Serve({.listen = "127.0.0.1:0", .allows_writes = true});
  for (const std::string& text : HostileTexts(500)) {
    v1::UpdateStudyRequest request;
    request.set_request_id(RandomHexId());
    request.set_name("studies/imdb");
    request.mutable_settings()->set_notes(text);
    request.mutable_update_mask()->add_paths("notes");
    const httplib::Response set = Post(kUpdateStudy, JsonOf(request));
    CheckIsData(set, text);
    if (set.status != 200) continue;  // a form that notes do not have
    const httplib::Response got = Ask(kGetStudy, R"({"name":"studies/imdb"})");
    CheckIsData(got, text);
    v1::Study study;
    ASSERT_TRUE(
        google::protobuf::util::JsonStringToMessage(got.body, &study).ok());
    EXPECT_EQ(study.settings().notes(), text);
  }
}

TEST_F(HttpSecurityTest, NothingMayFrameIt) {
  for (const char* const path :
       {"/", "/session", "/no-such-page", kListStudies}) {
    const httplib::Response got = Get(path);
    EXPECT_EQ(got.get_header_value("X-Frame-Options"), "DENY") << path;
    EXPECT_THAT(got.get_header_value("Content-Security-Policy"),
                HasSubstr("frame-ancestors 'none'"))
        << path;
  }
  // A frame that a browser says is one of another site.
  EXPECT_EQ(Ask(kListStudies, "{}",
                {{"Sec-Fetch-Site", "cross-site"},
                 {"Sec-Fetch-Mode", "navigate"},
                 {"Sec-Fetch-Dest", "iframe"}})
                .status,
            403);
}

}  // namespace
}  // namespace frostline::server
