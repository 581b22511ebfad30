// SPDX-License-Identifier: Apache-2.0
//
// File: http_fixture.h
//
// The edge for browsers before a whole coordinator with a study "imdb", reached
// as a browser does.
#ifndef FROSTLINE_TESTS_SERVER_HTTP_HTTP_FIXTURE_H_
#define FROSTLINE_TESTS_SERVER_HTTP_HTTP_FIXTURE_H_

#include <httplib.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "frostline/v1/admin_service.grpc.pb.h"
#include "gmock/gmock.h"
#include "server/http/http_edge.h"
#include "tests/server/rpc/rpc_fixture.h"

namespace frostline::server {

inline constexpr char kGetStudy[] = "/frostline.v1.StudyService/GetStudy";
inline constexpr char kListStudies[] = "/frostline.v1.StudyService/ListStudies";
inline constexpr char kPauseStudy[] = "/frostline.v1.StudyService/PauseStudy";
inline constexpr char kJson[] = "application/json";

class HttpEdgeTest : public RpcFixture {
 protected:
  void SetUp() override {
    RpcFixture::SetUp();
    ASSERT_OK(Create("imdb"));
    Serve({.listen = "127.0.0.1:0"});
  }

  void TearDown() override {
    edge_.reset();
    RpcFixture::TearDown();
  }

  void Serve(const HttpOptions& options, bool require_tokens = false) {
    edge_.reset();
    gate_ = std::make_unique<Gate>(coordinator_->credentials(), clock_,
                                   require_tokens);
    ASSERT_OK_AND_ASSIGN(
        edge_, HttpEdge::Listen(options, coordinator_->verbs(), *gate_,
                                &coordinator_->audit(), server_->counts()));
    const std::string url = edge_->url();
    client_ = std::make_unique<httplib::Client>(
        url.substr(0, url.find('/', sizeof("https://") - 1)));
  }

  httplib::Response Get(const std::string& path,
                        const httplib::Headers& headers = {}) {
    const httplib::Result got = client_->Get(path, headers);
    return got ? *got : httplib::Response();
  }
  httplib::Response Ask(const std::string& path, const std::string& message,
                        const httplib::Headers& headers = {}) {
    return Get(absl::StrCat(path, "?message=",
                            httplib::detail::encode_query_param(message)),
               headers);
  }
  httplib::Response Post(const std::string& path, const std::string& json,
                         const httplib::Headers& headers = {}) {
    const httplib::Result got = client_->Post(path, headers, json, kJson);
    return got ? *got : httplib::Response();
  }

  std::string Token(v1::Role role, const std::string& subject,
                    const std::string& label = "") {
    v1::CreateTokenRequest request;
    request.set_request_id(RandomHexId());
    request.set_role(role);
    request.set_subject(subject);
    if (!label.empty()) (*request.mutable_study_labels())["team"] = label;
    const auto admin = v1::AdminService::NewStub(channel_);
    return Call(*admin, &v1::AdminService::Stub::CreateToken, request)
        .value()
        .secret();
  }
  // What the page is told to show with each change.
  std::string Session(const httplib::Headers& headers = {}) {
    const std::string said = Get("/session", headers).body;
    const std::size_t begin = sizeof("{\"csrf\":\"") - 1;
    return said.size() > begin + 2 ? said.substr(begin, said.size() - begin - 2)
                                   : "";
  }
  static httplib::Headers With(const std::string& token) {
    return {{"Authorization", "Bearer " + token}};
  }
  std::string Pause() const {
    return absl::StrCat(R"({"name":"studies/imdb","request_id":")",
                        RandomHexId(), R"("})");
  }
  v1::StudyState State() {
    v1::GetStudyRequest request;
    request.set_name("studies/imdb");
    return Call(*studies_, &v1::StudyService::Stub::GetStudy, request)
        .value()
        .state();
  }

  std::unique_ptr<Gate> gate_;
  std::unique_ptr<HttpEdge> edge_;
  std::unique_ptr<httplib::Client> client_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_TESTS_SERVER_HTTP_HTTP_FIXTURE_H_
