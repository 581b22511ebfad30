// SPDX-License-Identifier: Apache-2.0
//
// File: access_verbs.h
//
// The verbs about access: tokens, certificates, and the audit.
#ifndef FROSTLINE_SERVER_VERBS_ACCESS_VERBS_H_
#define FROSTLINE_SERVER_VERBS_ACCESS_VERBS_H_

#include <deque>
#include <string>

#include "base/secret.h"
#include "frostline/v1/admin_service.pb.h"
#include "frostline/v1/worker_service.pb.h"
#include "server/audit/audit_log.h"
#include "server/auth/credentials.h"
#include "server/auth/issuer.h"
#include "server/verbs/calls.h"

namespace frostline::server {

// The verbs about tokens. The store has no secret, so their replies are not
// remembered as those of other verbs are: memory keeps them for ten minutes. A
// request that is repeated later, or after a restart, is refused, since no
// request may get a second secret.
class TokenVerbs {
 public:
  // `issuer` is null when nobody can be invited.
  TokenVerbs(Calls& calls, Credentials& credentials, const Issuer* issuer,
             const Clock& clock);

  void AddTo(VerbTable& table);
  // Writes, now and then, last uses that are a minute newer than those on disk;
  // with `all`, at the end, every one.
  void WriteDownUsed(Batch& batch, bool all) FROSTLINE_ON_LOOP;

 private:
  absl::StatusOr<v1::CreateTokenReply> CreateToken(
      Change& change, const v1::CreateTokenRequest& request) FROSTLINE_ON_LOOP;
  absl::StatusOr<v1::RotateTokenReply> RotateToken(
      Change& change, const v1::RotateTokenRequest& request) FROSTLINE_ON_LOOP;
  absl::StatusOr<v1::RevokeTokenReply> RevokeToken(
      Change& change, const v1::RevokeTokenRequest& request) FROSTLINE_ON_LOOP;
  void ListTokens(CallContext caller, v1::ListTokensRequest request,
                  Reply<v1::ListTokensReply> reply);
  void WhoAmI(CallContext caller, v1::WhoAmIRequest request,
              Reply<v1::Identity> reply);

  // A secret that was given out, and for which request.
  struct Drawn {
    std::string request;  // its bytes, and who asked
    SecretString secret;
    SteadyTime until;
  };
  // Keeps the secret, unless the write of this group is undone.
  void Remember(Change& change, const google::protobuf::Message& request,
                const SecretString& secret) FROSTLINE_ON_LOOP;
  // Returns the secret that this caller's same request was given, while it is
  // kept; else the error is REQUEST_ID_REUSED.
  absl::StatusOr<SecretString> DrawnBefore(
      const CallerIdentity& caller, const google::protobuf::Message& request,
      const storage::TokenRow& row) FROSTLINE_ON_LOOP;

  // The error is TOKEN_NOT_FOUND.
  absl::StatusOr<storage::TokenRow> Require(const std::string& id)
      FROSTLINE_ON_LOOP;
  absl::Status Put(Batch& batch,
                   const storage::TokenRow& row) FROSTLINE_ON_LOOP;

  Calls& calls_;
  Credentials& credentials_;
  const Issuer* const issuer_;
  const Clock& clock_;
  SteadyTime next_write_ ABSL_GUARDED_BY(kLoopThread){};
  std::deque<Drawn> drawn_ ABSL_GUARDED_BY(kLoopThread);  // the newest last
};

// The verbs about certificates. A worker trades an invitation for a
// certificate, and each certificate for the next one; an admin lists and
// revokes them. Whoever was let in by a revoked one gets no further answer, and
// nothing that it waits for.
class CertificateVerbs {
 public:
  // `issuer` is null when this coordinator cannot issue certificates.
  CertificateVerbs(Calls& calls, Credentials& credentials, const Issuer* issuer,
                   const Clock& clock);

  void AddTo(VerbTable& table);
  // Writes, now and then, certificates that were seen for the first time and
  // last uses a minute newer than on disk; with `all`, at the end, every one.
  void WriteDownUsed(Batch& batch, bool all) FROSTLINE_ON_LOOP;

 private:
  absl::StatusOr<v1::JoinReply> Join(
      Change& change, const v1::JoinRequest& request) FROSTLINE_ON_LOOP;
  absl::StatusOr<v1::JoinReply> RenewCertificate(
      Change& change,
      const v1::RenewCertificateRequest& request) FROSTLINE_ON_LOOP;
  absl::StatusOr<v1::RevokeCertificatesReply> RevokeCertificates(
      Change& change,
      const v1::RevokeCertificatesRequest& request) FROSTLINE_ON_LOOP;
  void ListCertificates(CallContext caller, v1::ListCertificatesRequest request,
                        Reply<v1::ListCertificatesReply> reply);

  // The error is JOIN_UNAVAILABLE, TOKEN_USED or WORKER_NAME_TAKEN.
  absl::StatusOr<storage::TokenRow> CheckInvitation(
      const CallerIdentity& caller,
      const std::string& worker_id) FROSTLINE_ON_LOOP;
  absl::StatusOr<v1::JoinReply> Issue(
      Batch& batch, const std::string& worker_id,
      const std::string& request_pem) FROSTLINE_ON_LOOP;
  absl::Status Put(Batch& batch,
                   const storage::CertificateRow& row) FROSTLINE_ON_LOOP;

  Calls& calls_;
  Credentials& credentials_;
  const Issuer* const issuer_;
  const Clock& clock_;
  SteadyTime next_write_ ABSL_GUARDED_BY(kLoopThread){};
};

// The verb that lists the audit, the newest entry first. A reader reads back as
// far as the filter needs. A page token is the entry before which the next page
// begins.
class AuditVerb {
 public:
  AuditVerb(Calls& calls, const AuditLog& audit)
      : calls_(calls), audit_(audit) {}

  void AddTo(VerbTable& table);

 private:
  void ListAuditEntries(CallContext caller, v1::ListAuditEntriesRequest request,
                        Reply<v1::ListAuditEntriesReply> reply);
  absl::StatusOr<v1::ListAuditEntriesReply> Page(
      const CallContext& caller, const v1::ListAuditEntriesRequest& request,
      std::int64_t before) const;

  Calls& calls_;
  const AuditLog& audit_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_ACCESS_VERBS_H_
