// SPDX-License-Identifier: Apache-2.0
#include "server/auth/issuer.h"

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "tls/certificate.h"
#include "tls/private_file.h"

namespace frostline::server {
namespace {

constexpr char kField[] = "--tls-ca-key";

}  // namespace

absl::Status CannotIssue(const std::string& field) {
  return MakeError(
      ErrorId::kJoinUnavailable,
      "this coordinator does not have the key of its CA",
      "start it with --tls DIR, where `frostline tls init --host HOST` made "
      "ca.key; or issue by hand with `frostline tls issue --host HOST`",
      field);
}

absl::StatusOr<std::unique_ptr<Issuer>> Issuer::Open(
    const std::string& ca_path, const std::string& key_path,
    Duration lifetime) {
  tls::KeyPair authority;
  ASSIGN_OR_RETURN(authority.certificate_pem,
                   tls::ReadPublicFile(ca_path, "--tls-ca"));
  ASSIGN_OR_RETURN(authority.key_pem, tls::ReadPrivateFile(key_path, kField));
  RETURN_IF_ERROR(tls::CheckPair(authority.certificate_pem, authority.key_pem));
  ASSIGN_OR_RETURN(const tls::CertificateFacts facts,
                   tls::ReadCertificate(authority.certificate_pem));
  if (!facts.is_authority) {
    return MakeError(ErrorId::kTlsFile,
                     absl::StrCat(ca_path, " may not sign certificates"),
                     "give the certificate and the key of a CA", kField);
  }
  return std::make_unique<Issuer>(std::move(authority), facts.sha256, lifetime);
}

void Issuer::ServeAt(const std::string& address) {
  const MutexLock lock(&mutex_);
  address_ = address;
}

std::string Issuer::address() const {
  const MutexLock lock(&mutex_);
  return address_;
}

absl::StatusOr<std::string> Issuer::Issue(const std::string& worker_id,
                                          const std::string& request_pem,
                                          WallMicros now) const {
  return tls::IssueFor(request_pem, authority_,
                       {.name = worker_id,
                        .hosts = {},
                        .uri = tls::FormatOwnerName({"worker", worker_id}),
                        .lifetime = lifetime_},
                       now);
}

}  // namespace frostline::server
