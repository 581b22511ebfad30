// SPDX-License-Identifier: Apache-2.0
//
// File: certificate_book.h
//
// Clients' certificates that were issued, seen or revoked. gRPC has held each
// against the CA before. One that nobody has revoked holds, known or not.
//
// Of a subject whose certificates were all revoked a row stays, so that one
// which was never seen has ended as well: only those issued here later hold.
#ifndef FROSTLINE_SERVER_AUTH_CERTIFICATE_BOOK_H_
#define FROSTLINE_SERVER_AUTH_CERTIFICATE_BOOK_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/auth/credential_rows.h"
#include "server/loop/call_context.h"
#include "storage/trial_store.h"

namespace frostline::server {

class CertificateBook {
 public:
  absl::Status Load(const storage::TrialStore& store) FROSTLINE_ON_LOOP;
  CredentialRows<storage::CertificateRow>& rows() { return rows_; }
  const CredentialRows<storage::CertificateRow>& rows() const { return rows_; }

  // Answers CERTIFICATE_REVOKED or CERTIFICATE_EXPIRED, else `owner` with its
  // flag. The use is noted.
  absl::StatusOr<CallerIdentity> Admit(CallerIdentity owner, WallMicros now);
  // Says whether a certificate that holds names this subject.
  bool HasSubject(const std::string& subject, WallMicros now) const;
  // The same of what this group puts.
  bool GetsSubject(const std::string& subject,
                   WallMicros now) const FROSTLINE_ON_LOOP;

 private:
  CredentialRows<storage::CertificateRow> rows_;
};

// The id of the row of all certificates of a subject: "subject:workers/gpu03".
std::string IdOfAllOf(const std::string& subject);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_AUTH_CERTIFICATE_BOOK_H_
