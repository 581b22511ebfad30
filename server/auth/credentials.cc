// SPDX-License-Identifier: Apache-2.0
#include "server/auth/credentials.h"

#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/plain/sums.h"
#include "server/auth/access.h"
#include "storage/trial_store.h"

namespace frostline::server {
namespace {

constexpr char kPrefix[] = "frost_";
constexpr std::size_t kPrefixSize = sizeof(kPrefix) - 1;
constexpr std::size_t kIdSize = 16;
constexpr std::size_t kSecretSize = 64;
constexpr std::size_t kWholeSize = kPrefixSize + kIdSize + 1 + kSecretSize;

}  // namespace

std::string TokenIdOf(const std::string& request_id) {
  Sha256Sum sum;
  sum.AddField("token");
  sum.AddField(request_id);
  return sum.Finish().substr(0, kIdSize);
}

SecretString NewTokenSecret(const std::string& id) {
  // Two random numbers of 128 bits each.
  return SecretString(
      absl::StrCat(kPrefix, id, "_", RandomHexId(), RandomHexId()));
}

std::string HashOfSecret(const SecretString& secret) {
  Sha256Sum sum;
  sum.Add(secret.Reveal());
  return sum.Finish();
}

std::string TokenIdIn(const SecretString& secret) {
  const std::string& text = secret.Reveal();
  const bool ours = text.size() == kWholeSize &&
                    absl::StartsWith(text, kPrefix) &&
                    text[kPrefixSize + kIdSize] == '_';
  return ours ? text.substr(kPrefixSize, kIdSize) : "";
}

namespace {

using storage::TokenRow;

// Uses the same words for an unknown id and a wrong secret, so that guessing
// teaches nothing.
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

// Says whether an invitation was traded: it is then revoked, and was used.
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

namespace {

using storage::CertificateRow;

constexpr char kAllOf[] = "subject:";

bool CertifiesNow(const CertificateRow& row, const std::string& subject,
                  WallMicros now) {
  return row.subject == subject && row.revoked == 0 && now < row.expires;
}

absl::Status Revoked(const CallerIdentity& owner) {
  return MakeError(
      ErrorId::kCertificateRevoked,
      absl::StrCat("the certificate of ", owner.subject, " was revoked"),
      "join again with `frostline worker invite`, or have another one issued");
}

absl::Status Expired(const CallerIdentity& owner) {
  return MakeError(
      ErrorId::kCertificateExpired,
      absl::StrCat("the certificate of ", owner.subject, " has expired"),
      "renew it, or join again with `frostline worker invite`");
}

}  // namespace

std::string IdOfAllOf(const std::string& subject) {
  return absl::StrCat(kAllOf, subject);
}

absl::Status CertificateBook::Load(const storage::TrialStore& store) {
  ASSIGN_OR_RETURN(std::vector<CertificateRow> rows,
                   LoadAll<CertificateRow>([&store](const std::string& after) {
                     return store.ListCertificates(after, storage::kScanPage);
                   }));
  rows_.Replace(std::move(rows));
  return absl::OkStatus();
}

absl::StatusOr<CallerIdentity> CertificateBook::Admit(CallerIdentity owner,
                                                      WallMicros now) {
  if (owner.expires != 0 && now >= owner.expires) return Expired(owner);
  const WallMicros all_revoked = rows_.With(
      IdOfAllOf(owner.subject), [](const CertificateRow* row) -> WallMicros {
        return row == nullptr ? 0 : row->revoked;
      });
  const std::string& id = owner.certificate_sha256;
  bool is_known = false;
  const bool holds = rows_.With(id, [&](const CertificateRow* row) {
    is_known = row != nullptr;
    if (is_known && row->revoked != 0) return false;
    return all_revoked == 0 || (is_known && row->created > all_revoked);
  });
  if (!holds) return Revoked(owner);
  if (!is_known) {
    rows_.Adopt({.id = id,
                 .subject = owner.subject,
                 .role = RoleToProto(owner.role),
                 .created = now,
                 .expires = owner.expires});
  }
  owner.revoked = rows_.Use(id, now);
  return owner;
}

bool CertificateBook::HasSubject(const std::string& subject,
                                 WallMicros now) const {
  return rows_.Any([&](const CertificateRow& row) {
    return CertifiesNow(row, subject, now);
  });
}

bool CertificateBook::GetsSubject(const std::string& subject,
                                  WallMicros now) const {
  return rows_.AnyPending([&](const CertificateRow& row) {
    return CertifiesNow(row, subject, now);
  });
}

absl::Status Credentials::CheckFree(const std::string& worker, WallMicros now,
                                    const std::string& field) const {
  const bool is_taken = HaveSubject(worker, now) ||
                        tokens.GetsSubject(worker, now) ||
                        certificates.GetsSubject(worker, now);
  if (!is_taken) return absl::OkStatus();
  return MakeError(
      ErrorId::kWorkerNameTaken,
      absl::StrCat(worker, " has credentials already"),
      absl::StrCat("take another --id, or end them first: `frostline worker "
                   "revoke ",
                   worker.substr(worker.find('/') + 1), "`"),
      field);
}

}  // namespace frostline::server
