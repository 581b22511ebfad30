// SPDX-License-Identifier: Apache-2.0
//
// A group's writes and promises; how groups follow each other is in
// commit_loop.cc.
#include <cassert>
#include <utility>

#include "base/error.h"
#include "base/failpoint.h"
#include "server/loop/commit_loop.h"

namespace frostline::server {
namespace {

bool IsStoreFailure(const absl::Status& status) {
  return IsUndone(status) || HasErrorId(status, ErrorId::kStoreIo) ||
         HasErrorId(status, ErrorId::kStoreCorrupt) ||
         HasErrorId(status, ErrorId::kStoreUnwritable) ||
         HasErrorId(status, ErrorId::kStoreRemoved) ||
         HasErrorId(status, ErrorId::kNotLeader);
}

}  // namespace

bool IsUndone(const absl::Status& committed) {
  return HasErrorId(committed, ErrorId::kStoreFull) ||
         HasErrorId(committed, ErrorId::kStoreBusy);
}

void Batch::AssertOnLoop() const {
  assert(std::this_thread::get_id() == maker_ && "not the loop's thread");
}

absl::Status Batch::Write(
    absl::FunctionRef<absl::Status(storage::Transaction&)> body) {
  AssertOnLoop();
  if (inside_ != nullptr && store_error_.ok()) return body(*inside_);
  ++writes_;
  RETURN_IF_ERROR(store_error_);
  if (!paused_.ok()) {
    refused_.insert(work_);
    return paused_;
  }
  if (transaction_ == nullptr) {
    auto begun = store_.Begin(epoch_);
    if (!begun.ok()) return store_error_ = begun.status();
    transaction_ = std::move(*begun);
  }
  inside_ = transaction_.get();
  absl::Status status =
      transaction_->Operation([&body, this] { return body(*transaction_); });
  inside_ = nullptr;
  if (IsStoreFailure(status)) store_error_ = status;
  return status;
}

absl::Status Batch::Commit() {
  if (store_error_.ok() && transaction_ != nullptr) {
    FROSTLINE_FAILPOINT(kCommitBefore);
    store_error_ = transaction_->Commit();
    FROSTLINE_FAILPOINT(kCommitAfter);
  }
  transaction_.reset();  // rolls back what was not committed
  return store_error_;
}

void Batch::Settle(const absl::Status& status) {
  FROSTLINE_FAILPOINT(kReplyBefore);
  refused_.erase(0);  // who waits for the turn asked for no write in it
  for (Promise& promise : promises_) {
    const bool refused = status.ok() && refused_.contains(promise.work);
    promise.done(refused ? paused_ : status);
    FROSTLINE_FAILPOINT(kReplyHalf);
  }
  promises_.clear();
}

}  // namespace frostline::server
