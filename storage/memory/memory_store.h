// SPDX-License-Identifier: Apache-2.0
//
// File: memory_store.h
//
// "Durable" means until the process ends.
//
// Commit() puts a transaction's changes (memory_transaction.h) into the tables
// under one lock, so that readers see all of them or none.
#ifndef FROSTLINE_STORAGE_MEMORY_MEMORY_STORE_H_
#define FROSTLINE_STORAGE_MEMORY_MEMORY_STORE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/ids.h"
#include "base/mutex.h"
#include "storage/backend.h"
#include "storage/rows.h"
#include "storage/trial_store.h"

namespace frostline::storage {

// Each table is an ordered map. In a layer of changes above what is stored, an
// entry without a row is an erasure. Rows are immutable, so that a copied
// pointer is a snapshot.

// Keys of what belongs to a study begin with it.
using OfStudy = std::tuple<StudyKey>;
using OfTrial = std::tuple<StudyKey, std::int64_t>;
using OfAttempt = std::tuple<StudyKey, std::int64_t, std::int64_t>;
using OfStep = std::tuple<StudyKey, std::int64_t, std::int64_t, std::int64_t>;

template <typename Key, typename Row>
using Table = std::map<Key, std::shared_ptr<const Row>>;

struct Tables {
  Table<OfStudy, StudyRow> studies;
  Table<OfTrial, TrialRow> trials;
  Table<OfAttempt, AttemptRow> attempts;
  Table<OfStep, Measurement> measurements;
  Table<OfTrial, OutcomeRow> outcomes;
  Table<OfAttempt, LogRow> logs;
  Table<OfStudy, SummaryRow> summaries;
  Table<OfTrial, BestRow> best;
  Table<std::string, WorkerRow> workers;
  Table<std::string, TokenRow> tokens;
  Table<std::string, CertificateRow> certificates;
  Table<std::int64_t, AuditRow> audit;
  Table<std::string, NotificationRow> notifications;
  Table<std::string, ReplyRow> replies;
};

// Calls f(member pointer) for each table.
template <typename F>
void ForEachTable(F f) {
  f(&Tables::studies);
  f(&Tables::trials);
  f(&Tables::attempts);
  f(&Tables::measurements);
  f(&Tables::outcomes);
  f(&Tables::logs);
  f(&Tables::summaries);
  f(&Tables::best);
  f(&Tables::workers);
  f(&Tables::tokens);
  f(&Tables::certificates);
  f(&Tables::audit);
  f(&Tables::notifications);
  f(&Tables::replies);
}

// `upper` wins, and is empty then.
template <typename Key, typename Row>
void Merge(Table<Key, Row>& lower, Table<Key, Row>&& upper) {
  for (auto& [key, row] : upper) lower[key] = std::move(row);
  upper.clear();
}

class MemoryStore final : public TrialStore {
 public:
  absl::StatusOr<Epoch> TakeLead() override;
  absl::StatusOr<Epoch> FindLead() const override;
  absl::StatusOr<std::unique_ptr<Transaction>> Begin(Epoch epoch) override;

  absl::StatusOr<StudyRow> FindStudy(const std::string& id) const override;
  absl::StatusOr<std::vector<StudyRow>> ListStudies(
      const StudyQuery& query) const override;
  absl::StatusOr<TrialRow> FindTrial(StudyKey study,
                                     std::int64_t number) const override;
  absl::StatusOr<std::vector<TrialRow>> ListTrials(
      const TrialQuery& query) const override;
  absl::StatusOr<std::vector<AttemptRow>> ListAttempts(
      StudyKey study, std::int64_t number) const override;
  absl::StatusOr<std::vector<AttemptRow>> ListGranted(
      const std::string& request_id) const override;
  absl::StatusOr<std::vector<SummaryRow>> ListSummaries(
      StudyKey after, int limit) const override;
  absl::StatusOr<std::vector<BestRow>> ListBest(StudyKey study,
                                                std::int64_t after,
                                                int limit) const override;
  absl::StatusOr<std::vector<Measurement>> ListMeasurements(
      const MeasurementQuery& query) const override;
  absl::StatusOr<std::optional<OutcomeRow>> FindOutcome(
      StudyKey study, std::int64_t number) const override;
  absl::StatusOr<std::optional<LogRow>> FindLog(
      StudyKey study, std::int64_t number, std::int64_t attempt) const override;
  absl::StatusOr<std::vector<WorkerRow>> ListWorkers(const std::string& after,
                                                     int limit) const override;
  absl::StatusOr<std::vector<TokenRow>> ListTokens(const std::string& after,
                                                   int limit) const override;
  absl::StatusOr<std::vector<CertificateRow>> ListCertificates(
      const std::string& after, int limit) const override;
  absl::StatusOr<std::vector<AuditRow>> ListAudit(std::int64_t after,
                                                  int limit) const override;
  absl::StatusOr<std::vector<NotificationRow>> ListNotifications(
      const std::string& after, int limit) const override;
  absl::StatusOr<std::optional<ReplyRow>> FindReply(
      const std::string& request_id) const override;

  DiskRoom RoomLeft() const override;
  absl::StatusOr<bool> Tend() override { return false; }
  absl::StatusOr<SecretString> LeaseKey() override { return lease_key_; }
  std::vector<WallMicros> NoteStart(WallMicros now) override;
  absl::StatusOr<BackupReport> Backup(const std::string& path) const override;
  std::string Describe() const override { return "memory"; }

 private:
  friend class MemoryTransaction;
  using TrialPointer = std::shared_ptr<const TrialRow>;

  // The holder of writer_ calls it.
  void Apply(Tables&& changes, StudyKey next_key);
  void Index(const TrialRow& row) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Unindex(const TrialRow& row) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void IndexGrants(const Tables& changes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<TrialPointer> ByNumber(const TrialQuery& query) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<TrialPointer> ByState(const TrialQuery& query) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<TrialPointer> ByRevision(const TrialQuery& query) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const SecretString lease_key_{RandomHexId() + RandomHexId()};
  WriterSlot writer_;
  // It changes only under mutex_ and by the holder of writer_, who may
  // therefore read without the lock.
  Tables stored_;
  Epoch epoch_ = 0;
  StudyKey next_key_ = 1;
  std::vector<WallMicros> starts_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, StudyKey> live_ids_;
  std::map<std::tuple<StudyKey, std::int64_t, std::int64_t>, TrialPointer>
      by_revision_ ABSL_GUARDED_BY(mutex_);  // study, revision, number
  std::map<std::tuple<StudyKey, TrialState, std::int64_t>, TrialPointer>
      by_state_ ABSL_GUARDED_BY(mutex_);  // study, state, number
  std::map<std::string, std::set<OfAttempt>> granted_
      ABSL_GUARDED_BY(mutex_);  // by request id
  mutable Mutex mutex_;
};

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_MEMORY_MEMORY_STORE_H_
