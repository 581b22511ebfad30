// SPDX-License-Identifier: Apache-2.0
//
// File: access_fixture.h
//
// The real binary in a folder and a home of its own, and a coordinator that
// answers what it is told and keeps what it was asked.
#ifndef FROSTLINE_TESTS_CLI_ACCESS_FIXTURE_H_
#define FROSTLINE_TESTS_CLI_ACCESS_FIXTURE_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <vector>

#include "frostline/v1/admin_service.grpc.pb.h"
#include "gtest/gtest.h"
#include "tests/support/temp_folder.h"

namespace frostline::cli {

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

}  // namespace frostline::cli

#endif  // FROSTLINE_TESTS_CLI_ACCESS_FIXTURE_H_
