// SPDX-License-Identifier: Apache-2.0
#include "storage/sqlite/read_pool.h"

namespace frostline::storage {
namespace {

constexpr int kMostConnections = 8;

}  // namespace

ReadPool::~ReadPool() = default;

absl::StatusOr<ReadPool::Loan> ReadPool::Borrow() {
  {
    const MutexLock lock(&mutex_);
    while (lent_ >= kMostConnections) returned_.Wait(&mutex_);
    ++lent_;
    if (!idle_.empty()) {
      std::unique_ptr<Database> database = std::move(idle_.back());
      idle_.pop_back();
      return Loan(*this, std::move(database));
    }
  }
  auto opened = Database::Open(path_, Database::Role::kReader);
  if (opened.ok()) return Loan(*this, std::move(*opened));
  Return(nullptr);
  return opened.status();
}

void ReadPool::Return(std::unique_ptr<Database> database) {
  {
    const MutexLock lock(&mutex_);
    --lent_;
    if (database != nullptr) idle_.push_back(std::move(database));
  }
  returned_.Signal();
}

}  // namespace frostline::storage
