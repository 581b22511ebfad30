// SPDX-License-Identifier: Apache-2.0
#include "server/auth/gate.h"

#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "server/auth/roles.h"
#include "tls/certificate.h"

namespace frostline::server {
namespace {

constexpr char kBearer[] = "bearer ";  // in any case, as RFC 6750 has it
constexpr char kCredentialsFix[] =
    "have an admin make a token with `frostline token create`, put it in a "
    "file that only you may read, and give --token-file FILE; or show a "
    "certificate";

absl::Status Missing(const std::string& cause) {
  return MakeError(ErrorId::kCredentialsMissing, cause, kCredentialsFix);
}

absl::StatusOr<CallerIdentity> OwnerOf(const Shown& shown) {
  for (const std::string& uri : shown.uris) {
    const tls::OwnerName owner = tls::ParseOwnerName(uri);
    const std::optional<CallerRole> role = RoleNamed(owner.role);
    if (!role.has_value()) continue;
    const bool works = *role == CallerRole::kWorker;
    return CallerIdentity{
        .subject = works ? WorkerNameOf(owner.name) : owner.name,
        .role = *role,
        .proof = CallerProof::kCertificate,
        .token_id = "",
        .certificate_sha256 = shown.certificate_sha256};
  }
  return Missing(
      "the certificate names no role: it has no name of the form "
      "spiffe://DOMAIN/frostline/ROLE/NAME");
}

}  // namespace

absl::StatusOr<CallerIdentity> Gate::Identify(const Shown& shown) const {
  if (!shown.authorization.empty()) {
    const std::string& text = shown.authorization.Reveal();
    if (!absl::StartsWithIgnoreCase(text, kBearer)) {
      return Missing("the call's authorization is no Bearer token");
    }
    return tokens_.Identify(SecretString(text.substr(sizeof(kBearer) - 1)),
                            clock_.Wall());
  }
  if (!shown.certificate_sha256.empty()) return OwnerOf(shown);
  if (shown.is_local && !require_tokens_) return CallerIdentity();
  return Missing(shown.is_local
                     ? "this coordinator asks for a token on loopback too"
                     : "the call shows neither a token nor a certificate");
}

absl::Status CheckRole(const CallerIdentity& caller, CallerRole row,
                       const std::string& method) {
  if (Allows(caller.role, row)) return absl::OkStatus();
  return MakeError(
      ErrorId::kRoleDenied,
      absl::StrCat(caller.subject, " has the role ", NameOfRole(caller.role),
                   "; ", method, " is for the role ", NameOfRole(row)),
      absl::StrCat("use credentials of the role ", NameOfRole(row),
                   ", or ask an admin"));
}

absl::Status CheckWorker(const CallerIdentity& caller,
                         const std::string& worker_id, const TokenBook& tokens,
                         WallMicros now) {
  if (caller.role != CallerRole::kWorker) return absl::OkStatus();
  const std::string name = WorkerNameOf(worker_id);
  if (caller.subject == name) return absl::OkStatus();
  const bool any = caller.subject.empty();
  if (any && !tokens.HasSubject(name, now)) return absl::OkStatus();
  return MakeError(
      ErrorId::kWorkerDenied,
      absl::StrCat(any ? "the worker token" : caller.subject,
                   " may not call as ", name),
      any ? "use the credentials that name this worker, or another --id"
          : absl::StrCat("start the worker with --id ",
                         caller.subject.substr(caller.subject.find('/') + 1)));
}

}  // namespace frostline::server
