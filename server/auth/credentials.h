// SPDX-License-Identifier: Apache-2.0
//
// File: credentials.h
//
// What both books (credentials.h, credentials.h) keep: rows by id, when
// each was last used, and a flag that whoever was let in by one looks at. The
// loop changes them; any thread asks. What the loop puts holds from Committed()
// on, and Undo() forgets it.
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

template <typename Row>
class CredentialRows {
 public:
  void Replace(std::vector<Row> rows) FROSTLINE_ON_LOOP {
    pending_.clear();
    const MutexLock lock(&mutex_);
    std::map<std::string, Entry> before = std::exchange(entries_, {});
    for (Row& row : rows) {
      const std::string id = row.id;
      // Who was let in before the reload still looks at its flag.
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
  // It sees what was put in this group, too.
  std::optional<Row> Find(const std::string& id) const FROSTLINE_ON_LOOP {
    const auto pending = pending_.find(id);
    if (pending != pending_.end()) return pending->second;
    const MutexLock lock(&mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end()) return std::nullopt;
    return Shown(found->second);
  }

  // Calls `f(row)` on the row of this id, or on null, and returns its answer.
  template <typename F>
  auto With(const std::string& id, F f) const {
    const MutexLock lock(&mutex_);
    const auto found = entries_.find(id);
    return f(found == entries_.end() ? nullptr : &found->second.row);
  }
  // Takes in what is in use and has no row yet: UsedSince() has it written.
  void Adopt(Row row) {
    const MutexLock lock(&mutex_);
    const std::string id = row.id;
    const auto [entry, is_new] = entries_.try_emplace(id);
    if (is_new) entry->second.row = std::move(row);
  }
  // Notes a use; the flag is set when the credential is revoked.
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
  // The same of what this group has put.
  template <typename Holds>
  bool AnyPending(Holds holds) const FROSTLINE_ON_LOOP {
    return std::any_of(pending_.begin(), pending_.end(),
                       [&](const auto& one) { return holds(one.second); });
  }
  // They rise by id, with their last use.
  std::vector<Row> List() const {
    std::vector<Row> rows;
    const MutexLock lock(&mutex_);
    for (const auto& [id, entry] : entries_) rows.push_back(Shown(entry));
    return rows;
  }
  // Returns those whose last use is `age` newer than the one on disk.
  std::vector<Row> UsedSince(WallMicros age) const {
    std::vector<Row> rows;
    const MutexLock lock(&mutex_);
    for (const auto& [id, entry] : entries_) {
      if (entry.used - entry.row.last_used >= age) rows.push_back(Shown(entry));
    }
    return rows;
  }

  // Says whether one was revoked since it was last asked.
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

// Reads all pages that `list(after)` answers.
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
// The first part names the token, for look-ups and for people who find it; the
// second is its secret, of 256 bits. A secret that nobody can guess needs no
// slow hash.

// Makes the id of the token that this request creates: it is the same when the
// request is repeated.
std::string TokenIdOf(const std::string& request_id);

// Draws the secret from the operating system.
SecretString NewTokenSecret(const std::string& id);
std::string HashOfSecret(const SecretString& secret);
// Answers the empty id for what is no token of ours.
std::string TokenIdIn(const SecretString& secret);

// All tokens in memory, as credentials.h has them.
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

// Clients' certificates that were issued, seen or revoked. gRPC has held each
// against the CA before. One that nobody has revoked holds, known or not.
//
// Of a subject whose certificates were all revoked a row stays, so that one
// which was never seen has ended as well: only those issued here later hold.

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

// All that can prove who calls. Threads and commits are those of its books.
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
  // Says whether some were revoked since it was last asked.
  bool TakeSomeRevoked() {
    const bool of_tokens = tokens.rows().TakeSomeRevoked();
    return certificates.rows().TakeSomeRevoked() || of_tokens;
  }
  void Undo() FROSTLINE_ON_LOOP {
    tokens.rows().Undo();
    certificates.rows().Undo();
  }
  // Says whether what holds stands for this subject: its name is taken.
  bool HaveSubject(const std::string& subject, WallMicros now) const {
    return tokens.HasSubject(subject, now) ||
           certificates.HasSubject(subject, now);
  }
  // Answers WORKER_NAME_TAKEN at `field` where "workers/gpu03" is.
  absl::Status CheckFree(const std::string& worker, WallMicros now,
                         const std::string& field) const FROSTLINE_ON_LOOP;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_AUTH_CREDENTIALS_H_
