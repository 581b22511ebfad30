// SPDX-License-Identifier: Apache-2.0
//
// File: locks.h
//
// The locks and the shared memory of one database among the connections of one
// thread: what SQLite expects of a file system, and nothing else.
#ifndef FROSTLINE_TESTS_FAULT_STORAGE_LOCKS_H_
#define FROSTLINE_TESTS_FAULT_STORAGE_LOCKS_H_

#include <sqlite3.h>

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <vector>

namespace frostline::test {

using Holder = const void*;  // a connection's file

// SQLITE_LOCK_NONE to SQLITE_LOCK_EXCLUSIVE, for each holder.
class FileLocks {
 public:
  int Lock(Holder holder, int level) {
    for (const auto& [other, held] : held_) {
      if (other == holder) continue;
      if (held >= SQLITE_LOCK_PENDING) return SQLITE_BUSY;
      if (held >= SQLITE_LOCK_RESERVED && level >= SQLITE_LOCK_RESERVED) {
        return SQLITE_BUSY;
      }
      if (held >= SQLITE_LOCK_SHARED && level == SQLITE_LOCK_EXCLUSIVE) {
        return SQLITE_BUSY;
      }
    }
    held_[holder] = level;
    return SQLITE_OK;
  }
  void Unlock(Holder holder, int level) {
    held_[holder] = level;
    if (level == SQLITE_LOCK_NONE) held_.erase(holder);
  }
  bool IsReserved() const {
    for (const auto& [holder, held] : held_) {
      if (held >= SQLITE_LOCK_RESERVED) return true;
    }
    return false;
  }

 private:
  std::map<Holder, int> held_;
};

class SharedMemory {
 public:
  void* Map(Holder holder, std::size_t region, std::size_t size, bool extend) {
    users_[holder] = true;
    if (region >= regions_.size() && !extend) return nullptr;
    while (region >= regions_.size()) {
      regions_.push_back(std::make_unique<char[]>(size));  // zeroed
    }
    return regions_[region].get();
  }
  // Gone with the last user, as after a restart.
  void Unmap(Holder holder) {
    users_.erase(holder);
    for (auto& lock : locks_) lock.erase(holder);
    if (users_.empty()) regions_.clear();
  }
  int Lock(Holder holder, int first, int count, int flags) {
    const bool exclusive = (flags & SQLITE_SHM_EXCLUSIVE) != 0;
    for (int i = first; i < first + count; ++i) {
      auto& lock = locks_[static_cast<std::size_t>(i)];
      if ((flags & SQLITE_SHM_UNLOCK) != 0) {
        lock.erase(holder);
        continue;
      }
      for (const auto& [other, theirs] : lock) {
        if (other != holder && (exclusive || theirs)) return SQLITE_BUSY;
      }
    }
    if ((flags & SQLITE_SHM_UNLOCK) != 0) return SQLITE_OK;
    for (int i = first; i < first + count; ++i) {
      locks_[static_cast<std::size_t>(i)][holder] = exclusive;
    }
    return SQLITE_OK;
  }

 private:
  std::map<Holder, bool> users_;
  std::vector<std::unique_ptr<char[]>> regions_;
  std::array<std::map<Holder, bool>, SQLITE_SHM_NLOCK> locks_;
};

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_FAULT_STORAGE_LOCKS_H_
