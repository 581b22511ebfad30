// SPDX-License-Identifier: Apache-2.0
//
// File: token_book.h
//
// All tokens in memory, as credential_rows.h has them.
#ifndef FROSTLINE_SERVER_AUTH_TOKEN_BOOK_H_
#define FROSTLINE_SERVER_AUTH_TOKEN_BOOK_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/secret.h"
#include "server/auth/credential_rows.h"
#include "server/loop/call_context.h"
#include "storage/trial_store.h"

namespace frostline::server {

class TokenBook {
 public:
  // Replaces all by what the store has.
  absl::Status Load(const storage::TrialStore& store) FROSTLINE_ON_LOOP;
  CredentialRows<storage::TokenRow>& rows() { return rows_; }
  const CredentialRows<storage::TokenRow>& rows() const { return rows_; }

  // Answers TOKEN_INVALID or TOKEN_EXPIRED. The use is noted, but for one of an
  // invitation, which its Join notes. One that was traded is known to a row for
  // the invited alone.
  absl::StatusOr<CallerIdentity> Identify(const SecretString& secret,
                                          WallMicros now, CallerRole row);
  // Says whether a token that holds stands for this subject.
  bool HasSubject(const std::string& subject, WallMicros now) const;
  // The same of what this group puts.
  bool GetsSubject(const std::string& subject,
                   WallMicros now) const FROSTLINE_ON_LOOP;

 private:
  CredentialRows<storage::TokenRow> rows_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_AUTH_TOKEN_BOOK_H_
