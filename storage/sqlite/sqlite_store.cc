// SPDX-License-Identifier: Apache-2.0
#include "storage/sqlite/sqlite_store.h"

#include <sqlite3.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "storage/sqlite/check.h"
#include "storage/sqlite/files.h"
#include "storage/sqlite/schema.h"
#include "storage/sqlite/sqlite_error.h"
#include "storage/sqlite/sqlite_transaction.h"
#include "storage/sqlite/sqlite_version.h"

namespace frostline::storage {
namespace {

constexpr std::int64_t kBytesPerPage = 4096;

absl::StatusOr<std::unique_ptr<Database>> OpenWriter(const std::string& path) {
  {
    ASSIGN_OR_RETURN(const std::unique_ptr<Database> reader,
                     Database::Open(path, Database::Role::kReader));
    RETURN_IF_ERROR(ReadVersion(*reader, path, SchemaSteps()).status());
  }
  ASSIGN_OR_RETURN(std::unique_ptr<Database> writer,
                   Database::Open(path, Database::Role::kWriter));
  RETURN_IF_ERROR(QuickCheck(*writer));
  // A full disk is told to those who write.
  const absl::Status emptied = writer->EmptyLog();
  if (!HasErrorId(emptied, ErrorId::kStoreFull)) RETURN_IF_ERROR(emptied);
  RETURN_IF_ERROR(Migrate(*writer, path, SchemaSteps()));
  return writer;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SqliteStore>> SqliteStore::Open(
    const std::string& folder, const StoreLimits& limits) {
  ASSIGN_OR_RETURN(std::unique_ptr<DataFolder> data,
                   DataFolder::Open(folder, limits.ballast_bytes));
  absl::StatusOr<std::unique_ptr<Database>> writer =
      OpenWriter(data->DatabasePath());
  if (HasErrorId(writer.status(), ErrorId::kStoreFull) &&
      data->ballast().Release()) {
    writer = OpenWriter(data->DatabasePath());
  }
  RETURN_IF_ERROR(writer.status());
  // A journal that SQLite has removed must not come back with a power cut: it
  // would undo all that follows.
  RETURN_IF_ERROR(SyncFolder(folder));
  Log(LogLevel::kInfo, "store_opened",
      {{"sqlite", sqlite3_libversion()},
       {"wal_reset_flaw", HasWalResetFlaw(sqlite3_libversion_number())
                              ? "present, no occasion"
                              : "absent"}});
  return std::unique_ptr<SqliteStore>(
      new SqliteStore(std::move(data), *std::move(writer), limits));
}

SqliteStore::SqliteStore(std::unique_ptr<DataFolder> folder,
                         std::unique_ptr<Database> writer,
                         const StoreLimits& limits)
    : limits_(limits),
      folder_(std::move(folder)),
      writer_(std::move(writer)),
      readers_(folder_->DatabasePath(), limits_.longest_read) {}

absl::StatusOr<Epoch> SqliteStore::TakeLead() {
  const absl::StatusOr<Epoch> epoch = RaiseLead();
  if (!HasErrorId(epoch.status(), ErrorId::kStoreFull)) return epoch;
  return RaiseLead();
}

absl::StatusOr<Epoch> SqliteStore::RaiseLead() {
  ASSIGN_OR_RETURN(const std::unique_ptr<SqliteTransaction> transaction,
                   BeginUnled());
  const absl::StatusOr<Epoch> epoch = transaction->RaiseLead();
  RETURN_IF_ERROR(transaction->Commit());  // also tells the store of a failure
  return epoch;
}

absl::StatusOr<std::unique_ptr<Transaction>> SqliteStore::Begin(Epoch epoch) {
  ASSIGN_OR_RETURN(std::unique_ptr<SqliteTransaction> transaction,
                   BeginUnled());
  const absl::Status status = transaction->CheckLead(epoch);
  if (status.ok()) return transaction;
  Failed(status);  // the slot is still ours
  return status;
}

absl::StatusOr<std::unique_ptr<SqliteTransaction>> SqliteStore::BeginUnled() {
  slot_.Take();
  absl::Status status = failure_;
  if (status.ok()) status = SqliteTransaction::Start(*writer_);
  if (status.ok()) return std::make_unique<SqliteTransaction>(*this);
  Failed(status);
  slot_.Give();
  return status;
}

void SqliteStore::Committed() {
  const int pages = writer_->wal_pages();
  if (pages < checkpointed_pages_) checkpointed_pages_ = 0;  // begun again
  WatchLog(pages);
  if (pages - checkpointed_pages_ < limits_.pages_per_checkpoint) return;
  checkpointed_pages_ = pages;
  MoveLog();
}

// The commit stands whatever comes of this: only a later one can be told. A
// full disk is none of its business as long as the log finds room.
void SqliteStore::MoveLog() {
  const absl::Status status = writer_->Checkpoint();
  if (!HasErrorId(status, ErrorId::kStoreFull)) Failed(status);
  if (ballast_is_out_ && status.ok() && folder_->ballast().Refill()) {
    ballast_is_out_ = false;
    Log(LogLevel::kInfo, "disk_has_room_again");
  }
}

// Some reader keeps the log from being begun again, for longer than any of ours
// may.
void SqliteStore::WatchLog(int pages) {
  const bool is_long = pages * kBytesPerPage > limits_.log_alarm_bytes;
  if (is_long && !log_is_long_) {
    Log(LogLevel::kWarning, "store_log_is_long",
        {{"bytes", absl::StrCat(pages * kBytesPerPage)}});
  }
  log_is_long_ = is_long;
}

void SqliteStore::Failed(const absl::Status& status) {
  if (IsFatal(status)) {
    if (failure_.ok()) {
      Log(LogLevel::kError, "store_failed", {{"cause", DescribeError(status)}});
    }
    failure_ = status;
    writer_->LeaveLogAtEnd();
  }
  if (HasErrorId(status, ErrorId::kStoreBusy)) {
    // Nobody else should have the database open.
    Log(LogLevel::kWarning, "store_busy",
        {{"times", absl::StrCat(++times_busy_)},
         {"cause", std::string(status.message())}});
  }
  if (HasErrorId(status, ErrorId::kStoreFull) && folder_->ballast().Release()) {
    ballast_is_out_ = true;
    Log(LogLevel::kWarning, "disk_full", {{"released", "frostline.ballast"}});
  }
}

DiskRoom SqliteStore::RoomLeft() const {
  DiskRoom left{.room = Room::kAmple, .free_bytes = folder_->FreeBytes()};
  if (left.free_bytes < limits_.no_new_studies_bytes) {
    left.room = Room::kNoNewStudies;
  }
  if (left.free_bytes < limits_.no_new_leases_bytes) {
    left.room = Room::kNoNewLeases;
  }
  return left;
}

std::string SqliteStore::Describe() const {
  return absl::StrCat("sqlite ", sqlite3_libversion(), " ",
                      folder_->DatabasePath());
}

absl::StatusOr<BackupReport> SqliteStore::Backup(
    const std::string& path) const {
  // Not of the pool: it is long, and readers would lack it.
  ASSIGN_OR_RETURN(
      const std::unique_ptr<Database> source,
      Database::Open(folder_->DatabasePath(), Database::Role::kReader));
  return BackUp(*source, path);
}

}  // namespace frostline::storage
