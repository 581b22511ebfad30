// SPDX-License-Identifier: Apache-2.0
#include "server/auth/token_book.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/status_macros.h"
#include "server/auth/roles.h"
#include "server/auth/token_secret.h"
#include "storage/scan.h"

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

bool IsSecretOf(const TokenRow& row, const std::string& hash, WallMicros now) {
  const SecretString shown(hash);
  if (shown == SecretString(row.secret_sha256)) return true;
  return now < row.old_secret_expires &&
         shown == SecretString(row.old_secret_sha256);
}

}  // namespace

absl::Status TokenBook::Load(const storage::TrialStore& store) {
  std::map<std::string, TokenRow> rows;
  std::string after;
  while (true) {
    ASSIGN_OR_RETURN(std::vector<TokenRow> page,
                     store.ListTokens(after, storage::kScanPage));
    if (page.empty()) break;
    after = page.back().id;
    for (TokenRow& row : page) {
      std::string id = row.id;
      rows.emplace(std::move(id), std::move(row));
    }
  }
  pending_.clear();
  const MutexLock lock(&mutex_);
  rows_ = std::move(rows);
  return absl::OkStatus();
}

void TokenBook::Committed() {
  if (pending_.empty()) return;
  const MutexLock lock(&mutex_);
  for (auto& [id, row] : pending_) rows_[id] = std::move(row);
  pending_.clear();
}

std::optional<TokenRow> TokenBook::Find(const std::string& id) const {
  const auto pending = pending_.find(id);
  if (pending != pending_.end()) return pending->second;
  const MutexLock lock(&mutex_);
  const auto found = rows_.find(id);
  if (found == rows_.end()) return std::nullopt;
  TokenRow row = found->second;
  const auto used = used_.find(id);
  if (used != used_.end())
    row.last_used = std::max(row.last_used, used->second);
  return row;
}

absl::StatusOr<CallerIdentity> TokenBook::Identify(const SecretString& secret,
                                                   WallMicros now) {
  const std::string id = TokenIdIn(secret);
  const std::string hash = HashOfSecret(secret);
  const MutexLock lock(&mutex_);
  const auto found = rows_.find(id);
  if (found == rows_.end()) return Unknown();
  const TokenRow& row = found->second;
  const auto role = RoleFromProto(row.role);
  if (!IsSecretOf(row, hash, now) || row.revoked != 0 || !role.has_value()) {
    return Unknown();
  }
  if (!Holds(row, now)) {
    return MakeError(
        ErrorId::kTokenExpired, absl::StrCat("token ", id, " has expired"),
        "have an admin make another with `frostline token create`");
  }
  WallMicros& used = used_[id];
  used = std::max(used, now);
  return CallerIdentity{.subject = row.subject,
                        .role = *role,
                        .proof = CallerProof::kToken,
                        .token_id = id,
                        .certificate_sha256 = "",
                        .expires = row.expires};
}

std::vector<TokenRow> TokenBook::List() const {
  std::vector<TokenRow> rows;
  const MutexLock lock(&mutex_);
  for (const auto& [id, row] : rows_) {
    rows.push_back(row);
    const auto used = used_.find(id);
    if (used == used_.end()) continue;
    rows.back().last_used = std::max(row.last_used, used->second);
  }
  return rows;
}

bool TokenBook::HasSubject(const std::string& subject, WallMicros now) const {
  const MutexLock lock(&mutex_);
  return std::any_of(rows_.begin(), rows_.end(), [&](const auto& one) {
    return one.second.subject == subject && Holds(one.second, now);
  });
}

std::vector<TokenRow> TokenBook::UsedSince(WallMicros age) const {
  std::vector<TokenRow> rows;
  const MutexLock lock(&mutex_);
  for (const auto& [id, used] : used_) {
    const auto found = rows_.find(id);
    if (found == rows_.end() || used - found->second.last_used < age) continue;
    rows.push_back(found->second);
    rows.back().last_used = used;
  }
  return rows;
}

}  // namespace frostline::server
