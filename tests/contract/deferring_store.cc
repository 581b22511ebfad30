// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/deferring_store.h"

#include <utility>

#include "base/error.h"
#include "storage/trial_store.h"

namespace frostline::test {
namespace {

// What was begun without the lead has nothing below it, and says so at last.
class DeferringTransaction final : public ForwardingTransaction {
 public:
  DeferringTransaction(std::unique_ptr<storage::Transaction> begun,
                       absl::Status refused)
      : ForwardingTransaction(std::move(begun)), refused_(std::move(refused)) {}

  absl::Status Operation(absl::FunctionRef<absl::Status()> body) override {
    if (over_) return storage::TransactionIsOver();
    return below() == nullptr ? body() : below()->Operation(body);
  }
  absl::StatusOr<storage::StudyKey> InsertStudy(
      const storage::StudyRow& study) override {
    if (over_) return storage::TransactionIsOver();
    if (below() == nullptr) return refused_;
    return below()->InsertStudy(study);
  }

  absl::Status Commit() override {
    if (over_) return storage::TransactionIsOver();
    over_ = true;
    if (refused_.ok()) return below()->Commit();
    RollBack();
    return refused_;
  }

 private:
  absl::Status Pass(absl::FunctionRef<absl::Status()> write) override {
    if (over_) return storage::TransactionIsOver();
    if (below() == nullptr) return absl::OkStatus();
    absl::Status status = write();
    if (!storage::IsDeferrable(status)) return status;
    if (refused_.ok()) refused_ = status;
    return absl::OkStatus();
  }

  absl::Status refused_;  // the first
  bool over_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<storage::Transaction>> DeferringStore::Begin(
    storage::Epoch epoch) {
  auto begun = below().Begin(epoch);
  if (begun.ok()) {
    return std::make_unique<DeferringTransaction>(*std::move(begun),
                                                  absl::OkStatus());
  }
  if (!HasErrorId(begun.status(), ErrorId::kNotLeader)) return begun.status();
  return std::make_unique<DeferringTransaction>(nullptr, begun.status());
}

}  // namespace frostline::test
