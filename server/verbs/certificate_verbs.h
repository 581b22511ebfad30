// SPDX-License-Identifier: Apache-2.0
//
// File: certificate_verbs.h
//
// A worker trades an invitation for a certificate, and each certificate for the
// next one; an admin sees them and ends them. Who was let in by one that ends
// gets no further answer, and nothing that it waits for.
#ifndef FROSTLINE_SERVER_VERBS_CERTIFICATE_VERBS_H_
#define FROSTLINE_SERVER_VERBS_CERTIFICATE_VERBS_H_

#include <string>

#include "frostline/v1/admin_service.pb.h"
#include "frostline/v1/worker_service.pb.h"
#include "server/auth/credentials.h"
#include "server/auth/issuer.h"
#include "server/verbs/calls.h"

namespace frostline::server {

class CertificateVerbs {
 public:
  // `issuer` is null where this coordinator cannot issue.
  CertificateVerbs(Calls& calls, Credentials& credentials, const Issuer* issuer,
                   const Clock& clock);

  void AddTo(VerbTable& table);
  // Writes those that were seen first, and last uses a minute newer than those
  // on disk, now and then; at the end `all`.
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

  // Answers JOIN_UNAVAILABLE, TOKEN_USED or WORKER_NAME_TAKEN.
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

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_CERTIFICATE_VERBS_H_
