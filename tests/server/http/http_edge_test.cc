// SPDX-License-Identifier: Apache-2.0
//
// The edge for browsers before a whole coordinator, reached as a browser does.
#include <google/protobuf/util/json_util.h>
#include <httplib.h>
#include <zlib.h>

#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "server/http/json_calls.h"
#include "tests/server/http/http_fixture.h"
#include "tests/support/record.h"

namespace frostline::server {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(HttpEdgeTest, AnswersAVerbAsJsonWithWhatGrpcSays) {
  v1::GetStudyRequest request;
  request.set_name("studies/imdb");
  ASSERT_OK_AND_ASSIGN(
      const v1::Study wanted,
      Call(*studies_, &v1::StudyService::Stub::GetStudy, request));
  for (const auto& got : {Ask(kGetStudy, R"({"name":"studies/imdb"})"),
                          Post(kGetStudy, R"({"name":"studies/imdb"})")}) {
    ASSERT_EQ(got.status, 200) << got.body;
    EXPECT_EQ(got.get_header_value("Content-Type"), kJson);
    v1::Study study;
    ASSERT_TRUE(
        google::protobuf::util::JsonStringToMessage(got.body, &study).ok());
    EXPECT_EQ(study.SerializeAsString(), wanted.SerializeAsString());
  }
}

TEST_F(HttpEdgeTest, SendsAnAnswerThatTheBrowserHasOnlyOnce) {
  const httplib::Response first = Ask(kListStudies, "{}");
  const std::string etag = first.get_header_value("ETag");
  ASSERT_THAT(etag, Not(IsEmpty()));
  const httplib::Response again =
      Ask(kListStudies, "{}", {{"If-None-Match", etag}});
  EXPECT_EQ(again.status, 304);
  EXPECT_THAT(again.body, IsEmpty());
  ASSERT_OK(Create("other"));
  EXPECT_EQ(Ask(kListStudies, "{}", {{"If-None-Match", etag}}).status, 200);
}

TEST_F(HttpEdgeTest, CompressesForWhoeverTakesGzip) {
  for (int i = 0; i < 20; ++i) ASSERT_OK(Create(absl::StrCat("study-", i)));
  const std::string plain = Ask(kListStudies, "{}").body;
  client_->set_decompress(false);
  const httplib::Response packed =
      Ask(kListStudies, "{}", {{"Accept-Encoding", "br, gzip"}});
  EXPECT_EQ(packed.get_header_value("Content-Encoding"), "gzip");
  EXPECT_LT(packed.body.size() * 3, plain.size());
  std::string text(plain.size(), '\0');
  z_stream stream{};
  ASSERT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string bytes = packed.body;
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  inflateEnd(&stream);
  EXPECT_EQ(text, plain);
}

TEST_F(HttpEdgeTest, AnErrorHasIdCauseAndFix) {
  const httplib::Response got = Ask(kGetStudy, R"({"name":"studies/nope"})");
  EXPECT_EQ(got.status, 404);
  for (const char* const part :
       {R"("code":"not_found")", R"("id":"FL-2001")", R"("fix":"see the list)",
        R"("cause":"there is no study nope")"}) {
    EXPECT_THAT(got.body, HasSubstr(part));
  }
}

TEST_F(HttpEdgeTest, RefusesWhatIsNoRequest) {
  EXPECT_EQ(Post(kGetStudy, "{").status, 400);
  EXPECT_EQ(Post(kGetStudy, R"({"nome":"studies/imdb"})").status, 400);
  EXPECT_EQ(Post(kGetStudy, std::string(5000, '[')).status, 400);
  EXPECT_EQ(Post(kGetStudy, std::string(std::size_t{2} << 20, ' ')).status,
            413);
  EXPECT_EQ(Post("/frostline.v1.StudyService/NoSuchVerb", "{}").status, 501);
  EXPECT_EQ(Post("/a/b/c", "{}").status, 501);
  EXPECT_EQ(Get("/no-such-page").status, 404);
  // A form of another site can send this type, and no JSON.
  const auto form = client_->Post(kListStudies, "{}", "text/plain");
  EXPECT_EQ(form->status, 400);
  EXPECT_EQ(Post(kGetStudy, R"({"name":"studies/imdb"})").status, 200);
}

TEST_F(HttpEdgeTest, OnlyReadsUnlessItIsToldOtherwise) {
  EXPECT_EQ(Post(kPauseStudy, Pause()).status, 403);
  EXPECT_EQ(State(), v1::STUDY_STATE_ACTIVE);
  Serve({.listen = "127.0.0.1:0", .allows_writes = true});
  EXPECT_EQ(Ask(kPauseStudy, Pause()).status, 403) << "by GET";
  EXPECT_EQ(State(), v1::STUDY_STATE_ACTIVE);
  EXPECT_EQ(Post(kPauseStudy, Pause()).status, 200);
  EXPECT_EQ(State(), v1::STUDY_STATE_PAUSED);
}

TEST_F(HttpEdgeTest, AnswersOnlyToNamesOfThisMachine) {
  for (const char* const evil : {"evil.example", "127.0.0.1.evil.example",
                                 "evil.example:7071", "[::2]:7071", ""}) {
    EXPECT_EQ(Ask(kListStudies, "{}", {{"Host", evil}}).status, 403) << evil;
    EXPECT_EQ(Get("/", {{"Host", evil}}).status, 403) << evil;
  }
  EXPECT_EQ(Get("/", {{"Host", "localhost:9"}}).status, 200);
  EXPECT_EQ(Get("/", {{"Host", "LOCALHOST"}}).status, 200);
  EXPECT_EQ(Get("/", {{"Host", "[::1]:7071"}}).status, 200);
}

TEST_F(HttpEdgeTest, AnswersNoOtherSite) {
  Serve({.listen = "127.0.0.1:0", .allows_writes = true});
  const std::string origin = edge_->url().substr(0, edge_->url().size() - 1);
  EXPECT_EQ(
      Post(kPauseStudy, Pause(), {{"Origin", "http://evil.example"}}).status,
      403);
  EXPECT_EQ(Post(kPauseStudy, Pause(), {{"Origin", "null"}}).status, 403);
  EXPECT_EQ(
      Post(kPauseStudy, Pause(), {{"Sec-Fetch-Site", "cross-site"}}).status,
      403);
  EXPECT_EQ(Ask(kListStudies, "{}", {{"Sec-Fetch-Site", "same-site"}}).status,
            403);
  EXPECT_EQ(State(), v1::STUDY_STATE_ACTIVE);
  // A link on another site may lead to the page, but not to an answer.
  const httplib::Headers link = {{"Sec-Fetch-Site", "cross-site"},
                                 {"Sec-Fetch-Mode", "navigate"}};
  EXPECT_EQ(Get("/", link).status, 200);
  EXPECT_EQ(Ask(kListStudies, "{}", link).status, 403);
  httplib::Headers ours = {{"Origin", origin}};
  EXPECT_EQ(Post(kPauseStudy, Pause(), ours).status, 403) << "not the page";
  ours.emplace("X-Frostline-Session", Session());
  EXPECT_EQ(Post(kPauseStudy, Pause(), ours).status, 200);
}

TEST_F(HttpEdgeTest, EveryAnswerForbidsWhatThePageNeedsNot) {
  for (const auto& got : {Get("/"), Ask(kListStudies, "{}"),
                          Get("/", {{"Host", "evil.example"}})}) {
    EXPECT_THAT(got.get_header_value("Content-Security-Policy"),
                StartsWith("default-src 'none'; script-src 'self';"));
    EXPECT_THAT(got.get_header_value("Content-Security-Policy"),
                HasSubstr("frame-ancestors 'none'"));
    EXPECT_EQ(got.get_header_value("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(got.get_header_value("X-Frame-Options"), "DENY");
    EXPECT_FALSE(got.has_header("Access-Control-Allow-Origin"));
  }
}

TEST_F(HttpEdgeTest, AsksForATokenWhereTokensAreRequired) {
  const std::string token = Token(v1::ROLE_VIEWER, "ana");
  Serve({.listen = "127.0.0.1:0"}, /*require_tokens=*/true);
  EXPECT_EQ(Ask(kListStudies, "{}").status, 401);
  EXPECT_EQ(Get("/").status, 200) << "the page itself tells nothing";
  EXPECT_EQ(Ask(kListStudies, "{}", With(token)).status, 200);
  EXPECT_EQ(Post("/login", R"({"token":"frost_wrong"})").status, 401);
  const httplib::Response in =
      Post("/login", absl::StrCat(R"({"token":")", token, R"("})"));
  ASSERT_EQ(in.status, 204);
  const std::string cookie = in.get_header_value("Set-Cookie");
  EXPECT_THAT(cookie, HasSubstr("; HttpOnly; SameSite=Strict"));
  const httplib::Headers has = {
      {"Cookie",
       absl::StrCat("other=1; ", cookie.substr(0, cookie.find(';')))}};
  EXPECT_EQ(Ask(kListStudies, "{}", has).status, 200);
  const httplib::Response out = Post("/logout", "{}", has);
  EXPECT_THAT(out.get_header_value("Set-Cookie"), HasSubstr("Max-Age=0"));
}

TEST_F(HttpEdgeTest, LocalCallersNeedATokenWhereGrpcTrustsNoneOfThem) {
  EXPECT_TRUE(server_->trusts_local_callers());
  const std::string socket = testing::TempDir() + "/page_test.sock";
  RpcOptions private_socket;
  private_socket.listen = {"unix:" + socket};
  ASSERT_OK_AND_ASSIGN(
      const auto only_unix,
      RpcServer::Listen(private_socket, coordinator_->verbs()));
  EXPECT_FALSE(only_unix->trusts_local_callers());
  Serve({.listen = "127.0.0.1:0", .trusts_local_callers = false});
  EXPECT_EQ(Ask(kListStudies, "{}").status, 401);
}

TEST_F(HttpEdgeTest, WhatAProxyPassedOnIsNotLocal) {
  for (const char* const mark :
       {"X-Forwarded-For", "Forwarded", "Via", "X-Forwarded-Host"}) {
    EXPECT_EQ(Ask(kListStudies, "{}", {{mark, "10.0.0.7"}}).status, 401)
        << mark;
  }
  const std::string token = Token(v1::ROLE_VIEWER, "ana");
  Serve({.listen = "127.0.0.1:0", .hosts = {"lab.example"}});
  httplib::Headers proxied = With(token);
  EXPECT_EQ(Ask(kListStudies, "{}").status, 401);
  proxied.emplace("Host", "lab.example");
  EXPECT_EQ(Ask(kListStudies, "{}", proxied).status, 200);
}

TEST_F(HttpEdgeTest, ATokenSeesTheStudiesOfItsLabels) {
  const std::string token = Token(v1::ROLE_VIEWER, "ana", "nlp");
  const httplib::Response list = Ask(kListStudies, "{}", With(token));
  EXPECT_EQ(list.status, 200);
  EXPECT_THAT(list.body, Not(HasSubstr("imdb")));
  const httplib::Response one =
      Ask(kGetStudy, R"({"name":"studies/imdb"})", With(token));
  EXPECT_THAT(one.status, AnyOf(403, 404));
  EXPECT_THAT(one.body, Not(HasSubstr("accuracy")));
}

// The table of roles holds here as it does over gRPC; what workers and admins
// call is not served at all.
TEST_F(HttpEdgeTest, EveryVerbIsRefusedToWhomGrpcRefusesIt) {
  Serve({.listen = "127.0.0.1:0", .allows_writes = true});
  const std::pair<CallerRole, std::string> callers[] = {
      {CallerRole::kViewer, Token(v1::ROLE_VIEWER, "ana")},
      {CallerRole::kResearcher, Token(v1::ROLE_RESEARCHER, "ben")},
      {CallerRole::kWorker, Token(v1::ROLE_WORKER, "workers/w1")},
      {CallerRole::kAdmin, Token(v1::ROLE_ADMIN, "root")}};
  int served = 0;
  Record record;
  for (const auto& [name, verb] : coordinator_->verbs().unary) {
    const std::size_t dot = name.rfind('.');
    const std::string path =
        absl::StrCat("/", name.substr(0, dot), "/", name.substr(dot + 1));
    for (const auto& [role, token] : callers) {
      CallerIdentity who;
      who.role = role;
      const bool is_for_pages = verb.role == CallerRole::kAnyone ||
                                verb.role == CallerRole::kViewer ||
                                verb.role == CallerRole::kResearcher;
      const int status = Post(path, R"({"x":1})", With(token)).status;
      const bool may = Allows(who, verb.role) && is_for_pages;
      ++record["calls"];
      // Let in, it fails at the field that there is not.
      EXPECT_EQ(status, may ? 400 : 403) << name << " " << NameOfRole(role);
      served += may ? 1 : 0;
    }
  }
  EXPECT_GT(served, 60);
}

TEST_F(HttpEdgeTest, ItsCallsAreCountedAndAuditedAsGrpcsAre) {
  VerbCounts* const counts =
      server_->counts()->Find("frostline.v1.StudyService.GetStudy");
  ASSERT_NE(counts, nullptr);
  const auto before = counts->ended.value();
  Ask(kGetStudy, R"({"name":"studies/imdb"})");
  EXPECT_EQ(counts->ended.value(), before + 1);
  const std::string token = Token(v1::ROLE_VIEWER, "mallory");
  Post(kPauseStudy, Pause(), With(token));
  Token(v1::ROLE_VIEWER, "later");  // refusals are written with the next change
  v1::ListAuditEntriesRequest request;
  const auto admin = v1::AdminService::NewStub(channel_);
  ASSERT_OK_AND_ASSIGN(
      const auto audit,
      Call(*admin, &v1::AdminService::Stub::ListAuditEntries, request));
  EXPECT_THAT(audit.ShortDebugString(), HasSubstr("subject: \"mallory\""));
}

TEST_F(HttpEdgeTest, TakesTheNextPortUnlessOneWasNamed) {
  const std::string taken =
      absl::StrReplaceAll(edge_->url(), {{"http://", ""}, {"/", ""}});
  HttpOptions options{.listen = taken};
  ASSERT_OK_AND_ASSIGN(const auto second,
                       HttpEdge::Listen(options, coordinator_->verbs(), *gate_,
                                        nullptr, nullptr));
  EXPECT_NE(second->url(), edge_->url());
  options.takes_next_port = false;
  EXPECT_THAT(HttpEdge::Listen(options, coordinator_->verbs(), *gate_, nullptr,
                               nullptr),
              FailsAt(ErrorId::kPortBusy, "http-listen"));
}

TEST_F(HttpEdgeTest, ListensOnLoopbackAloneWithoutTls) {
  for (const char* const open :
       {"0.0.0.0:7071", "192.168.0.7:1", "[::]:1", "example.org:80"}) {
    EXPECT_THAT(HttpEdge::Check({.listen = open}),
                FailsAt(ErrorId::kAddressNotLoopback, "http-listen"))
        << open;
  }
  for (const char* const wrong :
       {"127.0.0.1", "127.0.0.1:x", "127.0.0.1:70710", ":7071"}) {
    EXPECT_THAT(HttpEdge::Check({.listen = wrong}),
                FailsAt(ErrorId::kRequestInvalid, "http-listen"))
        << wrong;
  }
  for (const char* const path : {"frost", "/frost/", "/a b", "/<x>"}) {
    EXPECT_THAT(HttpEdge::Check({.base_path = path}),
                FailsAt(ErrorId::kRequestInvalid, "base-path"))
        << path;
  }
}

TEST_F(HttpEdgeTest, IsServedBelowAPathOfAProxy) {
  Serve({.listen = "127.0.0.1:0", .base_path = "/user/ana/proxy"});
  EXPECT_THAT(edge_->url(), testing::EndsWith("/user/ana/proxy/"));
  EXPECT_EQ(Get("/user/ana/proxy/").status, 200);
  EXPECT_EQ(Ask(absl::StrCat("/user/ana/proxy", kListStudies), "{}").status,
            200);
  EXPECT_EQ(Ask(kListStudies, "{}").status, 200) << "a proxy that strips it";
}

TEST_F(HttpEdgeTest, AnswersWhatIsUnderWayBeforeItEnds) {
  edge_->Stop();
  EXPECT_FALSE(client_->Get("/"));
  edge_.reset();
}

// A verb that loses its reply, or takes too long, is answered all the same.
TEST(JsonCallsTest, AnswersForAVerbThatDoesNot) {
  std::map<std::string, Reply<MessagePtr>> kept;
  VerbTable verbs;
  UnaryVerb verb = RowOf<v1::GetStudyRequest, UnaryVerb>(CallerRole::kViewer);
  verb.check = [](const auto&, Duration) { return absl::OkStatus(); };
  verb.run = [](CallContext, MessagePtr, Reply<MessagePtr>) {};
  verbs.unary["a.Loses"] = verb;
  verb.run = [&kept](CallContext, MessagePtr, Reply<MessagePtr> reply) {
    kept.emplace("late", std::move(reply));
  };
  verbs.unary["a.Late"] = verb;
  const SystemClock clock;
  Credentials none;
  const Gate gate(none, clock, false);
  const JsonCalls calls(verbs, gate, nullptr, nullptr, false,
                        std::chrono::milliseconds(50));
  JsonCall call;
  call.shown.is_local = true;
  call.method = "a.Loses";
  EXPECT_THAT(calls.Call(call).body, HasSubstr("given up unanswered"));
  call.method = "a.Late";
  EXPECT_EQ(calls.Call(call).status, 504);
  kept.at("late")(MessagePtr(new v1::Study()));  // nobody waits any more
}

}  // namespace
}  // namespace frostline::server
