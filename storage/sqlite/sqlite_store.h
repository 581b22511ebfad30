// SPDX-License-Identifier: Apache-2.0
//
// File: sqlite_store.h
//
// The store in a SQLite database; docs/adr/0005-sqlite-settings.md explains its
// settings. One connection writes, for the one open transaction, and moves the
// log to the database after commits. Readers have a pool of connections; each
// call runs one statement.
//
// After STORE_IO, STORE_CORRUPT, STORE_REMOVED or STORE_UNWRITABLE on the
// writing side, every Begin() returns that error again. After STORE_FULL the
// ballast is given up.
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
#include "storage/sqlite/backup.h"
#include "storage/sqlite/data_folder.h"
#include "storage/sqlite/database.h"
#include "storage/trial_store.h"

namespace frostline::storage {

// Connections for reading, each lent to one thread at a time. A running
// statement sees one snapshot, whatever the writer does, since the log keeps
// it. Any thread may use the pool. It must be destroyed before the writer's
// connection.
class ReadPool {
 public:
  // A connection on loan; it goes back to the pool with this object.
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

  // Reads that take longer than `longest_read` end with STORE_BUSY.
  ReadPool(std::string path, Duration longest_read)
      : path_(std::move(path)), longest_read_(longest_read) {}
  ~ReadPool();  // REQUIRES: nothing is on loan

  // Waits when very many read at once, but never for the writer.
  absl::StatusOr<Loan> Borrow();
  // Returns how many connections nobody uses. A connection that was not used
  // for a few hundred loans is closed.
  std::size_t idle() const;

 private:
  void Return(std::unique_ptr<Database> database);

  // A connection that nobody uses.
  struct Idle {
    std::unique_ptr<Database> database;
    std::int64_t since = 0;  // counted in loans
  };

  const std::string path_;
  const Duration longest_read_;
  mutable Mutex mutex_;
  CondVar returned_;
  // The connection that was used last is lent first.
  std::deque<Idle> idle_ ABSL_GUARDED_BY(mutex_);
  std::int64_t loans_ ABSL_GUARDED_BY(mutex_) = 0;
  int lent_ ABSL_GUARDED_BY(mutex_) = 0;
};

class SqliteTransaction;

inline constexpr std::int64_t kStorePageBytes = 4096;

// The store. Its promises are those of TrialStore.
class SqliteStore final : public TrialStore {
 public:
  // Opens the store and creates what is missing. The errors are those of
  // DataFolder::Open, STORE_VERSION, STORE_CORRUPT and STORE_IO.
  static absl::StatusOr<std::unique_ptr<SqliteStore>> Open(
      const std::string& folder, const StoreLimits& limits = {});
  // Opens a store whose files are removed with the object; after a kill, when
  // the next such store is opened (DataFolder::OpenEphemeral).
  static absl::StatusOr<std::unique_ptr<SqliteStore>> OpenEphemeral(
      const StoreLimits& limits = {});
  // REQUIRES: no transaction is open and no thread is in a call.
  ~SqliteStore() override = default;

  // Tries once more after STORE_FULL, when the ballast has been given up.
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

  // Unused room within the database counts as room if the log has room too.
  DiskRoom RoomLeft() const override;
  // A database made before stores gave pages back keeps its unused pages and
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

  // Waits for slot_ and begins; the caller checks the lead.
  absl::StatusOr<std::unique_ptr<SqliteTransaction>> BeginUnled();
  absl::StatusOr<Epoch> RaiseLead();
  // Called by the holder of slot_.
  void Committed();
  void Failed(const absl::Status& status);
  void MoveLog();
  // Gives a slice of the unused pages back to the disk, and returns whether
  // there are more.
  absl::StatusOr<bool> ReturnPages();
  absl::StatusOr<bool> HasPagesToReturn();
  void WatchLog(int pages);
  absl::Status CountFreePages();

  const StoreLimits limits_;
  std::unique_ptr<DataFolder> folder_;  // destroyed last: it is the lock
  WriterSlot slot_;
  const WatchedFiles files_;
  // The holder of slot_ uses all from here to `failure_`.
  std::unique_ptr<Database> writer_;
  bool returns_pages_ = false;
  int checkpointed_pages_ = 0;
  int times_busy_ = 0;
  bool log_is_long_ = false;
  bool ballast_is_out_ = false;
  absl::Status failure_;
  std::atomic<std::int64_t> free_pages_ = 0;  // within the database
  // Pages that were given back but stay in the file until all of the log is
  // moved.
  std::atomic<std::int64_t> returned_pages_ = 0;
  mutable Mutex backing_up_;
  mutable ReadPool readers_;
};

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SQLITE_SQLITE_STORE_H_
