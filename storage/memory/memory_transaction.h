// SPDX-License-Identifier: Apache-2.0
//
// File: memory_transaction.h
//
// A transaction is two layers of changes above what is stored: those of the
// running Operation(), which are dropped if it fails, and those before it.
#ifndef FROSTLINE_STORAGE_MEMORY_MEMORY_TRANSACTION_H_
#define FROSTLINE_STORAGE_MEMORY_MEMORY_TRANSACTION_H_

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "storage/memory/memory_store.h"
#include "storage/trial_store.h"

namespace frostline::storage {

// `store` must outlive it.
class MemoryTransaction final : public Transaction {
 public:
  // REQUIRES: the caller has taken store.writer_, which is given back at the
  // end.
  explicit MemoryTransaction(MemoryStore& store)
      : store_(store), next_key_(store.next_key_) {}
  ~MemoryTransaction() override;
  MemoryTransaction(const MemoryTransaction&) = delete;
  MemoryTransaction& operator=(const MemoryTransaction&) = delete;

  absl::Status Operation(absl::FunctionRef<absl::Status()> body) override;

  absl::StatusOr<StudyKey> InsertStudy(const StudyRow& study) override;
  absl::Status UpdateStudy(const StudyRow& study,
                           std::int64_t expected_etag) override;
  absl::StatusOr<bool> PurgeStudy(StudyKey study, std::int64_t most) override;
  absl::Status InsertTrial(const TrialRow& trial) override;
  absl::Status UpdateTrial(const TrialRow& trial,
                           const TrialGuard& guard) override;
  absl::Status PutAttempt(const AttemptRow& attempt) override;
  absl::Status AddMeasurements(
      const std::vector<MeasurementRow>& rows) override;
  absl::Status PutOutcome(const OutcomeRow& outcome) override;
  absl::Status PutLog(const LogRow& log) override;
  absl::Status PutSummary(const SummaryRow& summary) override;
  absl::Status PutBest(const BestRow& best) override;
  absl::Status PutWorker(const WorkerRow& worker) override;
  absl::Status ForgetWorker(const std::string& id) override;
  absl::Status PutToken(const TokenRow& token) override;
  absl::Status PutCertificate(const CertificateRow& certificate) override;
  absl::Status PutAudit(const AuditRow& entries) override;
  absl::Status ForgetAuditBefore(std::int64_t first) override;
  absl::Status PutNotification(const NotificationRow& notification) override;
  absl::Status ForgetNotification(const std::string& id) override;
  absl::Status RememberReply(const ReplyRow& reply) override;
  absl::StatusOr<bool> ForgetRepliesBefore(WallMicros time,
                                           std::int64_t most) override;

  absl::Status Commit() override;

 private:
  template <typename Key, typename Row>
  using TableOf = Table<Key, Row> Tables::*;

  // The upper ones hide the lower ones.
  std::array<const Tables*, 3> Layers() const {
    return {&operation_, &changes_, &store_.stored_};
  }
  // Answers null when there is none.
  template <typename Key, typename Row>
  std::shared_ptr<const Row> Find(TableOf<Key, Row> table,
                                  const Key& key) const {
    for (const Tables* layer : Layers()) {
      const auto found = (layer->*table).find(key);
      if (found != (layer->*table).end()) return found->second;
    }
    return nullptr;
  }
  template <typename Key, typename Row>
  void Put(TableOf<Key, Row> table, const Key& key, Row row) {
    (operation_.*table)[key] = std::make_shared<const Row>(std::move(row));
  }
  template <typename Key, typename Row>
  // Erases up to `most` rows, and takes their count off.
  void EraseOfStudy(TableOf<Key, Row> table, StudyKey study,
                    std::int64_t& most);
  // Says whether another study, not deleted, has the id.
  bool IdIsTaken(const std::string& id, StudyKey key) const;
  // Says whether the trial is there, at this attempt or a later one.
  bool HasHad(StudyKey study, std::int64_t number, std::int64_t attempt) const;
  void MergeOperation();

  MemoryStore& store_;
  Tables changes_;
  Tables operation_;
  StudyKey next_key_;
  bool over_ = false;
};

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_MEMORY_MEMORY_TRANSACTION_H_
