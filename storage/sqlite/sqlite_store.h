// SPDX-License-Identifier: Apache-2.0
//
// File: sqlite_store.h
//
// docs/adr/0005-sqlite-settings.md has the settings. One connection writes, for
// the one open transaction, and moves the log into the database after commits.
// Readers have a pool, and one statement per call.
//
// After STORE_IO, STORE_CORRUPT, STORE_REMOVED or STORE_UNWRITABLE on the
// writing side every Begin() repeats the error. After STORE_FULL the ballast is
// given up.
#ifndef FROSTLINE_STORAGE_SQLITE_SQLITE_STORE_H_
#define FROSTLINE_STORAGE_SQLITE_SQLITE_STORE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "storage/backend.h"
#include "storage/sqlite/backup.h"
#include "storage/sqlite/data_folder.h"
#include "storage/sqlite/database.h"
#include "storage/trial_store.h"

namespace frostline::storage {

// Connections are lent to one thread at a time. A statement is a snapshot,
// which the log keeps whatever the writer does.
//
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

class SqliteTransaction;

inline constexpr std::int64_t kStorePageBytes = 4096;

class SqliteStore final : public TrialStore {
 public:
  // Creates what is missing. Its errors are those of DataFolder::Open,
  // STORE_VERSION, STORE_CORRUPT and STORE_IO.
  static absl::StatusOr<std::unique_ptr<SqliteStore>> Open(
      const std::string& folder, const StoreLimits& limits = {});
  // Opens a store that is gone with the object, and after a kill with the next
  // one that is opened (DataFolder::OpenEphemeral).
  static absl::StatusOr<std::unique_ptr<SqliteStore>> OpenEphemeral(
      const StoreLimits& limits = {});
  // REQUIRES: no transaction is open and no thread is in a call.
  ~SqliteStore() override = default;

  // Tries again after STORE_FULL, since the ballast is given up.
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

  // What is unused within the database counts, as long as the log finds room.
  DiskRoom RoomLeft() const override;
  // A database that was made before stores gave pages back keeps them, and
  // fills them again.
  absl::StatusOr<bool> Tend() override;
  absl::StatusOr<SecretString> LeaseKey() override;
  std::vector<WallMicros> NoteStart(WallMicros now) override;
  absl::StatusOr<BackupReport> Backup(const std::string& path) const override;
  std::string Describe() const override;

 private:
  friend class SqliteTransaction;
  SqliteStore(std::unique_ptr<DataFolder> folder,
              std::unique_ptr<Database> writer, const StoreLimits& limits);
  static absl::StatusOr<std::unique_ptr<SqliteStore>> OpenIn(
      std::unique_ptr<DataFolder> data, const StoreLimits& limits);

  // Waits for slot_; the caller checks the lead.
  absl::StatusOr<std::unique_ptr<SqliteTransaction>> BeginUnled();
  absl::StatusOr<Epoch> RaiseLead();
  // The holder of slot_ calls these.
  void Committed();
  void Failed(const absl::Status& status);
  void MoveLog();
  // Returns a slice of them, and says whether there is more.
  absl::StatusOr<bool> ReturnPages();
  absl::StatusOr<bool> HasPagesToReturn();
  void WatchLog(int pages);
  absl::Status CountFreePages();

  const StoreLimits limits_;
  std::unique_ptr<DataFolder> folder_;  // ends last: it is the lock
  WriterSlot slot_;
  const WatchedFiles files_;
  std::unique_ptr<Database> writer_;  // of the holder of slot_, and below
  bool returns_pages_ = false;
  int checkpointed_pages_ = 0;
  int times_busy_ = 0;
  bool log_is_long_ = false;
  bool ballast_is_out_ = false;
  absl::Status failure_;
  std::atomic<std::int64_t> free_pages_ = 0;  // within the database
  // The file has them still, until all of the log is moved.
  std::atomic<std::int64_t> returned_pages_ = 0;
  mutable Mutex backing_up_;
  mutable ReadPool readers_;
};

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SQLITE_SQLITE_STORE_H_
