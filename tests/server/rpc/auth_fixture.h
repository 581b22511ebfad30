// SPDX-License-Identifier: Apache-2.0
//
// File: auth_fixture.h
//
// A coordinator on a database, reached in plaintext and over TLS, with a CA of
// its own and one that it does not trust.
#ifndef FROSTLINE_TESTS_SERVER_RPC_AUTH_FIXTURE_H_
#define FROSTLINE_TESTS_SERVER_RPC_AUTH_FIXTURE_H_

#include <grpcpp/grpcpp.h>

#include <fstream>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/ids.h"
#include "frostline/v1/admin_service.pb.h"
#include "gtest/gtest.h"
#include "server/coordinator.h"
#include "server/rpc/server.h"
#include "storage/factory.h"
#include "tests/server/rpc/raw_client.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"
#include "tls/authority.h"
#include "tls/certificate.h"
#include "tls/credentials.h"
#include "tls/private_file.h"

namespace frostline::server {

// What a caller shows, and whether it comes over TLS.
struct Caller {
  std::shared_ptr<grpc::ChannelCredentials> credentials =
      grpc::InsecureChannelCredentials();
  bool over_tls = false;
  std::string token = "";
};

class AuthFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(authority_, tls::MakeAuthority("ours", Now()));
    ASSERT_OK_AND_ASSIGN(foreign_, tls::MakeAuthority("theirs", Now()));
    std::ofstream(folder_.File("ca.crt")) << authority_.certificate_pem;
    Write("coordinator", authority_, {"localhost", "127.0.0.1"}, "");
    ASSERT_OK_AND_ASSIGN(store_, storage::OpenStore(storage::StoreSpec{
                                     .data_folder = folder_.File("data")}));
    ASSERT_OK(
        tls::WritePrivateFile(folder_.File("ca.key"), authority_.key_pem, ""));
    ASSERT_OK_AND_ASSIGN(
        issuer_, Issuer::Open(folder_.File("ca.crt"), folder_.File("ca.key"),
                              CertificateLife()));
    issuer_->ServeAt("gpu-head.lan:7443");
    Begin();
  }

  void Begin() {
    CoordinatorOptions options;
    options.issuer = issuer_.get();
    options.audit_folder = folder_.File("data/audit");
    coordinator_ =
        std::make_unique<Coordinator>(std::move(options), *store_, clock_);
    ASSERT_OK(coordinator_->Start());
    Listen(/*require_tokens=*/false);
  }

  // Another coordinator on the same store.
  void Restart() {
    coordinator_->Drain();
    server_->Shutdown(std::chrono::seconds(5));
    server_.reset();
    gate_.reset();
    coordinator_.reset();
    Begin();
  }

  void TearDown() override {
    if (server_ == nullptr) return;
    coordinator_->Drain();
    server_->Shutdown(std::chrono::seconds(5));
  }

  void Listen(bool require_tokens) {
    server_.reset();
    gate_ = std::make_unique<Gate>(coordinator_->credentials(), clock_,
                                   require_tokens);
    RpcOptions options;
    options.listen = {"127.0.0.1:0", "tls:127.0.0.1:0"};
    options.gate = gate_.get();
    options.audit = &coordinator_->audit();
    ASSERT_OK_AND_ASSIGN(
        options.credentials,
        tls::ServerCredentialsOf(FilesOf("coordinator"), clock_));
    ASSERT_OK_AND_ASSIGN(server_,
                         RpcServer::Listen(options, coordinator_->verbs()));
  }

  virtual Duration CertificateLife() const { return kUsualCertificateLife; }
  WallMicros Now() const { return clock_.Wall(); }

  tls::TlsFiles FilesOf(const std::string& name) const {
    return {folder_.File(name + ".crt"), folder_.File(name + ".key"),
            folder_.File("ca.crt")};
  }

  // Files NAME.crt and NAME.key.
  void Write(const std::string& name, const tls::KeyPair& issuer,
             const std::vector<std::string>& hosts, const std::string& uri) {
    ASSERT_OK_AND_ASSIGN(
        const tls::KeyPair made,
        tls::Issue(issuer, {.name = name, .hosts = hosts, .uri = uri}, Now()));
    std::ofstream(folder_.File(name + ".crt")) << made.certificate_pem;
    ASSERT_OK(
        tls::WritePrivateFile(folder_.File(name + ".key"), made.key_pem, ""));
  }

  // Over TLS, with a certificate of that owner.
  Caller WithCertificate(const std::string& name, const tls::KeyPair& issuer,
                         const std::string& uri) {
    Write(name, issuer, {}, uri);
    return {*tls::ChannelCredentialsOf(FilesOf(name), clock_), true};
  }
  // Over TLS, with a token; or with nothing.
  Caller WithToken(const std::string& token) {
    return {
        *tls::ChannelCredentialsOf({"", "", folder_.File("ca.crt")}, clock_),
        true, token};
  }

  absl::StatusOr<std::string> Send(const Caller& caller,
                                   const std::string& method,
                                   const std::string& request = "") {
    RawClient client(server_->addresses()[caller.over_tls ? 1 : 0],
                     caller.credentials);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::seconds(10));
    if (!caller.token.empty()) {
      context.AddMetadata("authorization", "Bearer " + caller.token);
    }
    const bool is_kedas = method.starts_with("ExternalScaler/");
    return client.Call(
        (is_kedas ? "/externalscaler." : "/frostline.v1.") + method, request,
        &context);
  }

  template <typename Reply, typename Request>
  absl::StatusOr<Reply> Call(const Caller& caller, const std::string& method,
                             const Request& request) {
    const auto bytes = Send(caller, method, request.SerializeAsString());
    if (!bytes.ok()) return bytes.status();
    Reply reply;
    reply.ParseFromString(*bytes);
    return reply;
  }

  v1::CreateTokenRequest TokenRequest(v1::Role role,
                                      const std::string& subject) {
    v1::CreateTokenRequest request;
    request.set_request_id(RandomHexId());
    request.set_role(role);
    request.set_subject(subject);
    return request;
  }
  v1::CreateTokenReply Create(v1::Role role, const std::string& subject) {
    const auto reply = Call<v1::CreateTokenReply>(
        local_, "AdminService/CreateToken", TokenRequest(role, subject));
    EXPECT_OK(reply);
    return reply.value_or(v1::CreateTokenReply());
  }
  v1::CreateTokenReply Invite(const std::string& subject = "") {
    v1::CreateTokenRequest request = TokenRequest(v1::ROLE_WORKER, subject);
    request.set_single_use(true);
    const auto reply =
        Call<v1::CreateTokenReply>(local_, "AdminService/CreateToken", request);
    EXPECT_OK(reply);
    return reply.value_or(v1::CreateTokenReply());
  }
  void Revoke(const std::string& id) {
    v1::RevokeTokenRequest request;
    request.set_request_id(RandomHexId());
    request.set_id(id);
    EXPECT_OK(Call<v1::RevokeTokenReply>(local_, "AdminService/RevokeToken",
                                         request));
  }
  absl::StatusOr<v1::Identity> WhoIs(const Caller& caller) {
    return Call<v1::Identity>(caller, "AdminService/WhoAmI",
                              v1::WhoAmIRequest());
  }

  const SystemClock clock_;
  const Caller local_;
  TempFolder folder_;
  tls::KeyPair authority_;
  tls::KeyPair foreign_;
  std::unique_ptr<storage::TrialStore> store_;
  std::unique_ptr<Issuer> issuer_;
  std::unique_ptr<Coordinator> coordinator_;
  std::unique_ptr<Gate> gate_;
  std::unique_ptr<RpcServer> server_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_TESTS_SERVER_RPC_AUTH_FIXTURE_H_
