// SPDX-License-Identifier: Apache-2.0
//
// File: read_pool.h
//
// Connections are lent to one thread at a time. A statement is a snapshot,
// which the log keeps whatever the writer does.
#ifndef FROSTLINE_STORAGE_SQLITE_READ_POOL_H_
#define FROSTLINE_STORAGE_SQLITE_READ_POOL_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "storage/sqlite/database.h"

namespace frostline::storage {

// Any thread may use it. It must end before the writer's connection does.
class ReadPool {
 public:
  // It goes back to the pool with the object.
  class Loan {
   public:
    Loan(ReadPool& pool, std::unique_ptr<Database> database)
        : pool_(&pool), database_(std::move(database)) {
      database_->EndAfter(pool.longest_read_);
    }
    Loan(Loan&&) = default;
    ~Loan() {
      if (database_ != nullptr) pool_->Return(std::move(database_));
    }
    Database& operator*() const { return *database_; }
    Database* operator->() const { return database_.get(); }

   private:
    ReadPool* pool_;
    std::unique_ptr<Database> database_;
  };

  // A longer read ends with STORE_BUSY.
  ReadPool(std::string path, Duration longest_read)
      : path_(std::move(path)), longest_read_(longest_read) {}
  ~ReadPool();  // REQUIRES: nothing is on loan

  // Waits when very many read at once, but never for the writer.
  absl::StatusOr<Loan> Borrow();
  // Counts the connections that nobody uses. One is closed when a few hundred
  // loans went by without it.
  std::size_t idle() const;

 private:
  void Return(std::unique_ptr<Database> database);

  struct Idle {
    std::unique_ptr<Database> database;
    std::int64_t since = 0;  // in loans
  };

  const std::string path_;
  const Duration longest_read_;
  mutable Mutex mutex_;
  CondVar returned_;
  // The one that was used last is lent first.
  std::deque<Idle> idle_ ABSL_GUARDED_BY(mutex_);
  std::int64_t loans_ ABSL_GUARDED_BY(mutex_) = 0;
  int lent_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SQLITE_READ_POOL_H_
