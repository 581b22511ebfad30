// SPDX-License-Identifier: Apache-2.0
#include "server/auth/gate.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "server/auth/access.h"
#include "tls/certificate.h"

namespace frostline::server {
namespace {

// Beyond so many buckets, full ones are forgotten: they are like new ones.
constexpr std::size_t kManyBuckets = 4'096;

}  // namespace

double CallRates::Fill(const Bucket& bucket, SteadyTime now) const {
  const double waited_s =
      std::chrono::duration<double>(now - bucket.filled).count();
  return std::min(limit_.burst, bucket.calls + waited_s * limit_.calls_per_s);
}

bool CallRates::Take(const std::string& who, SteadyTime now) {
  const MutexLock lock(&mutex_);
  if (buckets_.size() >= kManyBuckets) ForgetFull(now);
  Bucket& bucket = buckets_.try_emplace(who, limit_.burst, now).first->second;
  bucket.calls = Fill(bucket, now);
  bucket.filled = now;
  if (bucket.calls < 1.0) return false;
  bucket.calls -= 1.0;
  return true;
}

void CallRates::ForgetFull(SteadyTime now) {
  std::erase_if(buckets_, [&](const auto& one) {
    return Fill(one.second, now) >= limit_.burst;
  });
}

std::size_t CallRates::size() const {
  const MutexLock lock(&mutex_);
  return buckets_.size();
}

absl::StatusOr<std::shared_ptr<const tls::CertificateFacts>>
CertificateFactsCache::Read(const std::string& pem) {
  {
    const MutexLock lock(&mutex_);
    const auto known = known_.find(pem);
    if (known != known_.end()) return known->second;
  }
  ASSIGN_OR_RETURN(tls::CertificateFacts facts, tls::ReadCertificate(pem));
  auto shared = std::make_shared<const tls::CertificateFacts>(std::move(facts));
  const MutexLock lock(&mutex_);
  ++reads_;
  if (known_.size() >= kMostKnownCertificates) known_.clear();
  known_.emplace(pem, shared);
  return shared;
}

std::int64_t CertificateFactsCache::reads() const {
  const MutexLock lock(&mutex_);
  return reads_;
}

namespace {

constexpr char kBearer[] = "bearer ";  // in any case, as RFC 6750 has it
constexpr char kCredentialsFix[] =
    "have an admin make a token with `frostline token create --role "
    "researcher --subject NAME`, put it in a file that only you may read, and "
    "give --token-file FILE; or show a certificate";

absl::Status Missing(const std::string& cause) {
  return MakeError(ErrorId::kCredentialsMissing, cause, kCredentialsFix);
}

}  // namespace

absl::StatusOr<CallerIdentity> Gate::OwnerOf(const std::string& pem) const {
  const auto facts = facts_.Read(pem);
  if (!facts.ok()) return Missing(std::string(facts.status().message()));
  for (const std::string& uri : (*facts)->uris) {
    const tls::OwnerName owner = tls::ParseOwnerName(uri);
    const std::optional<CallerRole> role = RoleNamed(owner.role);
    if (!role.has_value()) continue;
    const bool works = *role == CallerRole::kWorker;
    return credentials_.certificates.Admit(
        {.subject = works ? WorkerNameOf(owner.name) : owner.name,
         .role = *role,
         .proof = CallerProof::kCertificate,
         .token_id = "",
         .certificate_sha256 = (*facts)->sha256,
         .expires = (*facts)->expires},
        clock_.Wall());
  }
  return Missing(
      "the certificate names no role: it has no name of the form "
      "spiffe://DOMAIN/frostline/ROLE/NAME");
}

absl::StatusOr<CallerIdentity> Gate::Identify(const Shown& shown,
                                              CallerRole row) const {
  if (!shown.authorization.empty()) {
    const std::string& text = shown.authorization.Reveal();
    if (!absl::StartsWithIgnoreCase(text, kBearer)) {
      return Missing("the call's authorization is no Bearer token");
    }
    return credentials_.tokens.Identify(
        SecretString(text.substr(sizeof(kBearer) - 1)), clock_.Wall(), row);
  }
  if (!shown.certificate_pem.empty()) return OwnerOf(shown.certificate_pem);
  if (shown.is_local && !require_tokens_) return LocalAdmin();
  return Missing(shown.is_local
                     ? "this coordinator asks for a token on loopback too"
                     : "the call shows neither a token nor a certificate");
}

absl::Status Gate::TakeCall(const CallerIdentity& caller) const {
  if (caller.proof == CallerProof::kLoopback) return absl::OkStatus();
  const std::string& who =
      caller.token_id.empty() ? caller.certificate_sha256 : caller.token_id;
  if (rates_.Take(who, clock_.Steady())) return absl::OkStatus();
  too_fast_.Add();
  return MakeError(ErrorId::kCallerTooFast,
                   absl::StrCat(caller.subject, " calls too often"),
                   "wait a second, or share the work among more tokens");
}

absl::Status CheckHolds(const CallerIdentity& caller) {
  if (!caller.is_revoked()) return absl::OkStatus();
  const bool is_token = caller.proof == CallerProof::kToken;
  return MakeError(
      is_token ? ErrorId::kTokenInvalid : ErrorId::kCertificateRevoked,
      absl::StrCat("what ", caller.subject, " called with was revoked"),
      is_token ? "have an admin make a token with `frostline token "
                 "create --role researcher --subject NAME`"
               : "join again with `frostline worker invite`");
}

absl::Status CheckRole(const CallerIdentity& caller, CallerRole row,
                       const std::string& method) {
  if (Allows(caller, row)) return absl::OkStatus();
  if (row == CallerRole::kInvited) {
    return MakeError(ErrorId::kRoleDenied,
                     "joining is for whoever shows an invitation",
                     "have an admin make one with `frostline worker invite`");
  }
  if (row == CallerRole::kCertified) {
    return MakeError(
        ErrorId::kRoleDenied, "only a worker's certificate is renewed",
        "call over TLS with the certificate that is to be renewed, "
        "and without a token");
  }
  return MakeError(
      ErrorId::kRoleDenied,
      absl::StrCat(caller.subject, " has the role ", NameOfRole(caller.role),
                   "; ", method, " is for the role ", NameOfRole(row)),
      absl::StrCat("use credentials of the role ", NameOfRole(row),
                   ", or ask an admin"));
}

absl::Status CheckWorker(const CallerIdentity& caller,
                         const std::string& worker_id,
                         const Credentials& credentials, WallMicros now) {
  if (caller.role != CallerRole::kWorker) return absl::OkStatus();
  const std::string name = WorkerNameOf(worker_id);
  if (caller.subject == name) return absl::OkStatus();
  const bool any = caller.subject.empty();
  if (any && !credentials.HaveSubject(name, now)) return absl::OkStatus();
  return MakeError(
      ErrorId::kWorkerDenied,
      absl::StrCat(any ? "the worker token" : caller.subject,
                   " may not call as ", name),
      any ? "use the credentials that name this worker, or another --id"
          : absl::StrCat("start the worker with --id ",
                         caller.subject.substr(caller.subject.find('/') + 1)));
}

}  // namespace frostline::server
