// SPDX-License-Identifier: Apache-2.0
//
// File: credential_rows.h
//
// What both books (token_book.h, certificate_book.h) keep: rows by id, when
// each was last used, and a flag that whoever was let in by one looks at. The
// loop changes them; any thread asks. What the loop puts holds from Committed()
// on, and Undo() forgets it.
#ifndef FROSTLINE_SERVER_AUTH_CREDENTIAL_ROWS_H_
#define FROSTLINE_SERVER_AUTH_CREDENTIAL_ROWS_H_

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
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "server/loop/loop_thread.h"

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

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_AUTH_CREDENTIAL_ROWS_H_
