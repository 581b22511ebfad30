// SPDX-License-Identifier: Apache-2.0
#include "server/auth/certificate_book.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "server/auth/roles.h"
#include "storage/trial_store.h"

namespace frostline::server {
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

}  // namespace frostline::server
