// SPDX-License-Identifier: Apache-2.0
#include "storage/sqlite/read_pool.h"

namespace frostline::storage {
namespace {

// More than threads that read: a point read waits for no list.
constexpr int kMostConnections = 32;
// Each keeps a cache of pages.
constexpr std::int64_t kIdleLoans = 256;

}  // namespace

ReadPool::~ReadPool() = default;

absl::StatusOr<ReadPool::Loan> ReadPool::Borrow() {
  {
    const MutexLock lock(&mutex_);
    while (lent_ >= kMostConnections) returned_.Wait(&mutex_);
    ++lent_;
    ++loans_;
    if (!idle_.empty()) {
      std::unique_ptr<Database> database = std::move(idle_.back().database);
      idle_.pop_back();
      return Loan(*this, std::move(database));
    }
  }
  auto opened = Database::Open(path_, Database::Role::kReader);
  if (opened.ok()) return Loan(*this, std::move(*opened));
  Return(nullptr);
  return opened.status();
}

std::size_t ReadPool::idle() const {
  const MutexLock lock(&mutex_);
  return idle_.size();
}

void ReadPool::Return(std::unique_ptr<Database> database) {
  std::unique_ptr<Database> unused;  // closed without the lock
  {
    const MutexLock lock(&mutex_);
    --lent_;
    if (database != nullptr) idle_.push_back({std::move(database), loans_});
    if (!idle_.empty() && loans_ - idle_.front().since > kIdleLoans) {
      unused = std::move(idle_.front().database);
      idle_.pop_front();
    }
  }
  returned_.Signal();
}

}  // namespace frostline::storage
