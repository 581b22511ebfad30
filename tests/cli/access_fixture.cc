// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/access_fixture.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace frostline::cli {
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

}  // namespace frostline::cli
