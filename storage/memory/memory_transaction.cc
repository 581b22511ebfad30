// SPDX-License-Identifier: Apache-2.0
//
// How a transaction and its operations end; what it writes is in
// memory_writes.cc.
#include "storage/memory/memory_transaction.h"

#include "storage/backend.h"

namespace frostline::storage {

MemoryTransaction::~MemoryTransaction() {
  if (!over_) store_.writer_.Give();
}

void MemoryTransaction::MergeOperation() {
  ForEachTable([this](auto table) {
    Merge(changes_.*table, std::move(operation_.*table));
  });
}

absl::Status MemoryTransaction::Operation(
    absl::FunctionRef<absl::Status()> body) {
  if (over_) return TransactionIsOver();
  MergeOperation();  // what was written outside of an operation
  const StudyKey next_key = next_key_;
  const absl::Status status = body();
  if (status.ok()) {
    MergeOperation();
  } else {
    operation_ = Tables();
    next_key_ = next_key;
  }
  return status;
}

absl::Status MemoryTransaction::Commit() {
  if (over_) return TransactionIsOver();
  MergeOperation();
  store_.Apply(std::move(changes_), next_key_);
  over_ = true;
  store_.writer_.Give();
  return absl::OkStatus();
}

}  // namespace frostline::storage
