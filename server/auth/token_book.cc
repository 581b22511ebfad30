// SPDX-License-Identifier: Apache-2.0
#include "server/auth/token_book.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "server/auth/roles.h"
#include "server/auth/token_secret.h"
#include "storage/trial_store.h"

namespace frostline::server {
namespace {

using storage::TokenRow;

// The same words for an unknown id and a wrong secret: who guesses learns
// nothing.
absl::Status Unknown() {
  return MakeError(ErrorId::kTokenInvalid,
                   "the coordinator knows no such token, or it was revoked",
                   "`frostline token list` of an admin shows those that hold");
}

bool Holds(const TokenRow& row, WallMicros now) {
  return row.revoked == 0 && (row.expires == 0 || now < row.expires);
}

bool StandsFor(const TokenRow& row, const std::string& subject,
               WallMicros now) {
  return row.single_use == 0 && row.subject == subject && Holds(row, now);
}

bool IsSecretOf(const TokenRow& row, const std::string& hash, WallMicros now) {
  const SecretString shown(hash);
  if (shown == SecretString(row.secret_sha256)) return true;
  return now < row.old_secret_expires &&
         shown == SecretString(row.old_secret_sha256);
}

// An invitation that was traded is revoked, and has been used.
bool IsSpent(const TokenRow& row) {
  return row.single_use != 0 && row.revoked != 0 && row.last_used != 0;
}

absl::StatusOr<CallerIdentity> OwnerOf(const TokenRow* row,
                                       const std::string& hash,
                                       WallMicros now) {
  if (row == nullptr || !IsSecretOf(*row, hash, now)) return Unknown();
  const auto role = row->single_use != 0 ? std::optional(CallerRole::kInvited)
                                         : RoleFromProto(row->role);
  if (!role.has_value()) return Unknown();
  if (row->revoked != 0 && !IsSpent(*row)) return Unknown();
  if (row->expires != 0 && now >= row->expires) {
    return MakeError(
        ErrorId::kTokenExpired, absl::StrCat("token ", row->id, " has expired"),
        row->single_use != 0
            ? "have an admin make another with `frostline worker invite`"
            : "have an admin make another with `frostline token create "
              "--role researcher --subject NAME`");
  }
  CallerIdentity owner{.subject = row->subject,
                       .role = *role,
                       .proof = CallerProof::kToken,
                       .token_id = row->id,
                       .certificate_sha256 = "",
                       .expires = row->expires};
  v1::Token labelled;
  labelled.ParseFromString(row->study_labels);
  for (const auto& [key, value] : labelled.study_labels()) {
    owner.study_labels[key] = value;
  }
  owner.is_spent = IsSpent(*row);
  return owner;
}

}  // namespace

absl::Status TokenBook::Load(const storage::TrialStore& store) {
  ASSIGN_OR_RETURN(std::vector<TokenRow> rows,
                   LoadAll<TokenRow>([&store](const std::string& after) {
                     return store.ListTokens(after, storage::kScanPage);
                   }));
  rows_.Replace(std::move(rows));
  return absl::OkStatus();
}

absl::StatusOr<CallerIdentity> TokenBook::Identify(const SecretString& secret,
                                                   WallMicros now,
                                                   CallerRole row) {
  const std::string id = TokenIdIn(secret);
  const std::string hash = HashOfSecret(secret);
  ASSIGN_OR_RETURN(CallerIdentity owner,
                   rows_.With(id, [&hash, now](const TokenRow* token) {
                     return OwnerOf(token, hash, now);
                   }));
  if (owner.is_spent && row != CallerRole::kInvited) return Unknown();
  if (owner.role != CallerRole::kInvited) owner.revoked = rows_.Use(id, now);
  return owner;
}

bool TokenBook::HasSubject(const std::string& subject, WallMicros now) const {
  return rows_.Any(
      [&](const TokenRow& row) { return StandsFor(row, subject, now); });
}

bool TokenBook::GetsSubject(const std::string& subject, WallMicros now) const {
  return rows_.AnyPending(
      [&](const TokenRow& row) { return StandsFor(row, subject, now); });
}

}  // namespace frostline::server
