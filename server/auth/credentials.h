// SPDX-License-Identifier: Apache-2.0
//
// File: credentials.h
//
// The credentials that are known: tokens and certificates. The loop changes
// their books; any thread asks them. What the loop puts is valid from
// Committed() on, and Undo() forgets it.
#ifndef FROSTLINE_SERVER_AUTH_CREDENTIALS_H_
#define FROSTLINE_SERVER_AUTH_CREDENTIALS_H_

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/secret.h"
#include "server/loop/call_context.h"
#include "storage/trial_store.h"

namespace frostline::server {

// The rows of a book of credentials, by id. It keeps when each was last used,
// and a flag that tells whoever was let in by a row that it was revoked. Each
// book owns one.
template <typename Row>
class CredentialRows {
 public:
  void Replace(std::vector<Row> rows) FROSTLINE_ON_LOOP {
    pending_.clear();
    const MutexLock lock(&mutex_);
    std::map<std::string, Entry> before = std::exchange(entries_, {});
    for (Row& row : rows) {
      const std::string id = row.id;
      // Callers that were let in before the reload still look at the old flag.
      entries_[id] = std::move(before[id]);
      Take(std::move(row));
    }
  }
  void Put(const Row& row) FROSTLINE_ON_LOOP { pending_[row.id] = row; }
  void Committed() FROSTLINE_ON_LOOP {
    if (pending_.empty()) return;
    const MutexLock lock(&mutex_);
    for (auto& [id, row] : pending_) Take(std::move(row));
    pending_.clear();
  }
  void Undo() FROSTLINE_ON_LOOP { pending_.clear(); }
  // Also finds what was put in this group.
  std::optional<Row> Find(const std::string& id) const FROSTLINE_ON_LOOP {
    const auto pending = pending_.find(id);
    if (pending != pending_.end()) return pending->second;
    const MutexLock lock(&mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end()) return std::nullopt;
    return Shown(found->second);
  }

  // Calls `f(row)` with the row of this id, or with null, and returns its
  // result.
  template <typename F>
  auto With(const std::string& id, F f) const {
    const MutexLock lock(&mutex_);
    const auto found = entries_.find(id);
    return f(found == entries_.end() ? nullptr : &found->second.row);
  }
  // Takes in a credential that is in use and has no row yet; UsedSince() has it
  // written later.
  void Adopt(Row row) {
    const MutexLock lock(&mutex_);
    const std::string id = row.id;
    const auto [entry, is_new] = entries_.try_emplace(id);
    if (is_new) entry->second.row = std::move(row);
  }
  // Notes a use. The returned flag becomes true when the credential is revoked.
  std::shared_ptr<const std::atomic<bool>> Use(const std::string& id,
                                               WallMicros now) {
    const MutexLock lock(&mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end()) return nullptr;
    found->second.used = std::max(found->second.used, now);
    return found->second.revoked;
  }

  template <typename Holds>
  bool Any(Holds holds) const {
    const MutexLock lock(&mutex_);
    return std::any_of(entries_.begin(), entries_.end(),
                       [&](const auto& one) { return holds(one.second.row); });
  }
  // Asks the same about what this group has put.
  template <typename Holds>
  bool AnyPending(Holds holds) const FROSTLINE_ON_LOOP {
    return std::any_of(pending_.begin(), pending_.end(),
                       [&](const auto& one) { return holds(one.second); });
  }
  // Returns all rows, sorted by id, each with its last use.
  std::vector<Row> List() const {
    std::vector<Row> rows;
    const MutexLock lock(&mutex_);
    for (const auto& [id, entry] : entries_) rows.push_back(Shown(entry));
    return rows;
  }
  // Returns the rows whose last use is at least `age` newer than on disk.
  std::vector<Row> UsedSince(WallMicros age) const {
    std::vector<Row> rows;
    const MutexLock lock(&mutex_);
    for (const auto& [id, entry] : entries_) {
      if (entry.used - entry.row.last_used >= age) rows.push_back(Shown(entry));
    }
    return rows;
  }

  // Says whether a credential was revoked since the last call.
  bool TakeSomeRevoked() {
    const MutexLock lock(&mutex_);
    return std::exchange(some_revoked_, false);
  }

 private:
  struct Entry {
    Row row;
    WallMicros used = 0;
    std::shared_ptr<std::atomic<bool>> revoked =
        std::make_shared<std::atomic<bool>>(false);
  };
  static Row Shown(const Entry& entry) {
    Row row = entry.row;
    row.last_used = std::max(row.last_used, entry.used);
    return row;
  }
  void Take(Row row) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    Entry& entry = entries_[row.id];
    if (row.revoked != 0 && !entry.revoked->exchange(true)) {
      some_revoked_ = true;
    }
    entry.row = std::move(row);
  }

  std::map<std::string, Row> pending_ ABSL_GUARDED_BY(kLoopThread);
  mutable Mutex mutex_;
  bool some_revoked_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<std::string, Entry> entries_ ABSL_GUARDED_BY(mutex_);
};

// Reads all pages that `list(after)` returns.
template <typename Row, typename List>
absl::StatusOr<std::vector<Row>> LoadAll(List list) {
  std::vector<Row> rows;
  while (true) {
    absl::StatusOr<std::vector<Row>> page =
        list(rows.empty() ? "" : rows.back().id);
    if (!page.ok()) return page.status();
    if (page->empty()) return rows;
    std::move(page->begin(), page->end(), std::back_inserter(rows));
  }
}

//   frost_3f9c0a51d2e47b68_<64 hexadecimal digits>
//
// The first part names the token, for look-ups and for people who find one. The
// second part is its secret, of 256 bits, of which only a hash is kept. Nobody
// can guess such a secret, so it needs no slow hash.

// Returns the id of the token that this request creates. A repeated request
// gets the same id.
std::string TokenIdOf(const std::string& request_id);

// Returns a new secret, drawn from the operating system.
SecretString NewTokenSecret(const std::string& id);
std::string HashOfSecret(const SecretString& secret);
// Returns the id in a token, or "" when `secret` is no token of ours.
std::string TokenIdIn(const SecretString& secret);

// All tokens, in memory.
class TokenBook {
 public:
  // Replaces all tokens by those in the store.
  absl::Status Load(const storage::TrialStore& store) FROSTLINE_ON_LOOP;
  CredentialRows<storage::TokenRow>& rows() { return rows_; }
  const CredentialRows<storage::TokenRow>& rows() const { return rows_; }

  // Returns whom the token stands for. The error is TOKEN_INVALID or
  // TOKEN_EXPIRED. The use is noted, except for an invitation, whose use its
  // Join notes. An invitation that was traded is accepted only by a row for the
  // invited.
  absl::StatusOr<CallerIdentity> Identify(const SecretString& secret,
                                          WallMicros now, CallerRole row);
  // Says whether a valid token stands for this subject.
  bool HasSubject(const std::string& subject, WallMicros now) const;
  // Asks the same about what this group puts.
  bool GetsSubject(const std::string& subject,
                   WallMicros now) const FROSTLINE_ON_LOOP;

 private:
  CredentialRows<storage::TokenRow> rows_;
};

// The client certificates that were issued, seen or revoked, in memory. gRPC
// has checked each one against the CA before. A certificate that nobody has
// revoked is valid, whether known or not.
//
// When all certificates of a subject are revoked, one row for the subject
// stays. It revokes those that were never seen too: from then on only
// certificates that were issued here later are valid.
class CertificateBook {
 public:
  absl::Status Load(const storage::TrialStore& store) FROSTLINE_ON_LOOP;
  CredentialRows<storage::CertificateRow>& rows() { return rows_; }
  const CredentialRows<storage::CertificateRow>& rows() const { return rows_; }

  // Returns `owner` with the certificate's flag, and notes the use. The error
  // is CERTIFICATE_REVOKED or CERTIFICATE_EXPIRED.
  absl::StatusOr<CallerIdentity> Admit(CallerIdentity owner, WallMicros now);
  // Says whether a valid certificate names this subject.
  bool HasSubject(const std::string& subject, WallMicros now) const;
  // Asks the same about what this group puts.
  bool GetsSubject(const std::string& subject,
                   WallMicros now) const FROSTLINE_ON_LOOP;

 private:
  CredentialRows<storage::CertificateRow> rows_;
};

// Returns the id of the row that stands for all certificates of a subject:
// "subject:workers/gpu03".
std::string IdOfAllOf(const std::string& subject);

// All that can prove who calls. What its books say of threads and commits holds
// here too.
struct Credentials {
  TokenBook tokens;
  CertificateBook certificates;

  absl::Status Load(const storage::TrialStore& store) FROSTLINE_ON_LOOP {
    const absl::Status loaded = tokens.Load(store);
    return loaded.ok() ? certificates.Load(store) : loaded;
  }
  void Committed() FROSTLINE_ON_LOOP {
    tokens.rows().Committed();
    certificates.rows().Committed();
  }
  // Says whether a credential was revoked since the last call.
  bool TakeSomeRevoked() {
    const bool of_tokens = tokens.rows().TakeSomeRevoked();
    return certificates.rows().TakeSomeRevoked() || of_tokens;
  }
  void Undo() FROSTLINE_ON_LOOP {
    tokens.rows().Undo();
    certificates.rows().Undo();
  }
  // Says whether a valid credential stands for this subject, so that its name
  // is taken.
  bool HaveSubject(const std::string& subject, WallMicros now) const {
    return tokens.HasSubject(subject, now) ||
           certificates.HasSubject(subject, now);
  }
  // The error is WORKER_NAME_TAKEN at `field` when "workers/gpu03" is taken.
  absl::Status CheckFree(const std::string& worker, WallMicros now,
                         const std::string& field) const FROSTLINE_ON_LOOP;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_AUTH_CREDENTIALS_H_
