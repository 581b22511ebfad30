// SPDX-License-Identifier: Apache-2.0
//
// File: postgres_store.h
//
// The store in a PostgreSQL database, in the schema `frostline`
// (docs/adr/0041-postgresql.md). One connection writes, for the one open
// transaction, and holds the seat: a second coordinator is told who has it.
// Whoever lost the seat without knowing it is stopped by the epoch, which each
// transaction compares under a lock that it holds to its end. Readers have a
// pool of connections; each call runs one statement.
//
// A connection that is lost before a commit was sent is STORE_BUSY: nothing has
// happened, and the next Begin() connects again. One that is lost while a
// commit was under way is STORE_IO: nobody knows, and a new start reads it.
#ifndef FROSTLINE_STORAGE_POSTGRES_POSTGRES_STORE_H_
#define FROSTLINE_STORAGE_POSTGRES_POSTGRES_STORE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "storage/postgres/connection.h"
#include "storage/trial_store.h"

namespace frostline::storage {

// What a store keeps on the coordinator's own disk, not in the database.
struct KeptBeside {
  std::function<absl::StatusOr<SecretString>()> lease_key;
  std::function<std::vector<WallMicros>(WallMicros now)> note_start;
  std::function<std::int64_t()> free_bytes;  // of that disk
};

// Connections for reading, each lent to one call. Any thread may use the pool.
class PostgresReaders {
 public:
  explicit PostgresReaders(std::string url) : url_(std::move(url)) {}

  // Asks on a connection of the pool. One that had been idle may be dead by
  // now, so the question is asked once more on a new one.
  absl::StatusOr<Answer> Ask(const std::string& sql,
                             const Parameters& parameters);

 private:
  // Waits when very many read at once.
  std::unique_ptr<Connection> Take();
  void Return(std::unique_ptr<Connection> connection);

  const std::string url_;
  Mutex mutex_;
  CondVar returned_;
  std::vector<std::unique_ptr<Connection>> idle_ ABSL_GUARDED_BY(mutex_);
  int lent_ ABSL_GUARDED_BY(mutex_) = 0;
};

class PostgresTransaction;

// The store. Its promises are those of TrialStore.
class PostgresStore final : public TrialStore {
 public:
  // Connects, takes the seat and makes the tables, or brings them up to date.
  // The errors are Connection::Open's, STORE_LOCKED (another coordinator has
  // the seat), STORE_VERSION (tables of a later version, or of somebody else)
  // and STORE_UNWRITABLE (a replica, a pooler in between, a password in the
  // URL, which everybody on the machine could read).
  static absl::StatusOr<std::unique_ptr<PostgresStore>> Open(
      const std::string& url, KeptBeside beside);
  // REQUIRES: no transaction is open and no thread is in a call.
  ~PostgresStore() override = default;

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

  // The database's disk is its operator's to watch: there is ample room until
  // a write is told that there is none. The bytes are those of our own disk.
  DiskRoom RoomLeft() const override;
  // The error is METHOD_NOT_BUILT: pg_dump copies a database.
  absl::StatusOr<BackupReport> Backup(const std::string& path) const override;
  // PostgreSQL tends itself.
  absl::StatusOr<bool> Tend() override { return false; }
  absl::StatusOr<SecretString> LeaseKey() override {
    return beside_.lease_key();
  }
  std::vector<WallMicros> NoteStart(WallMicros now) override {
    return beside_.note_start(now);
  }
  std::string Describe() const override { return description_; }

 private:
  friend class PostgresTransaction;
  PostgresStore(std::string url, KeptBeside beside,
                std::unique_ptr<Connection> writer)
      : url_(std::move(url)),
        beside_(std::move(beside)),
        writer_(std::move(writer)),
        readers_(url_) {}

  // Waits for slot_ and begins; the caller checks the lead.
  absl::StatusOr<std::unique_ptr<PostgresTransaction>> BeginUnled();
  // A writer that is gone is replaced; the caller holds slot_.
  absl::Status MendWriter();

  const std::string url_;
  const KeptBeside beside_;
  std::string description_;
  WriterSlot slot_;
  std::unique_ptr<Connection> writer_;  // of the holder of slot_
  absl::Status failure_;                // likewise: nobody knows what is stored
  mutable PostgresReaders readers_;
};

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_POSTGRES_POSTGRES_STORE_H_
