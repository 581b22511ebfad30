// SPDX-License-Identifier: Apache-2.0
#include "storage/sqlite/sqlite_store.h"

#include <sqlite3.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "storage/sqlite/check.h"
#include "storage/sqlite/files.h"
#include "storage/sqlite/lease_key.h"
#include "storage/sqlite/schema.h"
#include "storage/sqlite/sqlite_error.h"
#include "storage/sqlite/sqlite_transaction.h"
#include "storage/sqlite/sqlite_version.h"
#include "storage/sqlite/start_notes.h"

namespace frostline::storage {
namespace {

constexpr std::int64_t kReturnsPages = 2;  // as PRAGMA auto_vacuum has it

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
  Log(LogLevel::kInfo, "store_opened", {{"database", data->DatabasePath()}});
  Log(LogLevel::kDebug, "sqlite",
      {{"version", LinkedSqliteVersion()},
       {"wal_reset_flaw", HasWalResetFlaw(sqlite3_libversion_number())
                              ? "present, no occasion"
                              : "absent"}});
  std::unique_ptr<SqliteStore> store(
      new SqliteStore(std::move(data), *std::move(writer), limits));
  RETURN_IF_ERROR(store->CountFreePages());
  ASSIGN_OR_RETURN(const std::int64_t how,
                   store->writer_->ReadInt("PRAGMA auto_vacuum"));
  store->returns_pages_ = how == kReturnsPages;
  return store;
}

SqliteStore::SqliteStore(std::unique_ptr<DataFolder> folder,
                         std::unique_ptr<Database> writer,
                         const StoreLimits& limits)
    : limits_(limits),
      folder_(std::move(folder)),
      files_(folder_->DatabasePath()),
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

absl::StatusOr<SecretString> SqliteStore::LeaseKey() {
  return KeepLeaseKey(folder_->LeaseKeyPath());
}

std::vector<WallMicros> SqliteStore::NoteStart(WallMicros now) {
  return NoteStartIn(folder_->StartsPath(), now);
}

DiskRoom SqliteStore::RoomLeft() const {
  const std::int64_t on_disk = folder_->FreeBytes();
  DiskRoom left{.room = Room::kAmple,
                .free_bytes = on_disk + (free_pages_ + returned_pages_) *
                                            kStorePageBytes};
  if (left.free_bytes < limits_.no_new_studies_bytes) {
    left.room = Room::kNoNewStudies;
  }
  // Two logs: one is moved while the next one grows.
  const std::int64_t for_the_log =
      std::min(2 * limits_.pages_per_checkpoint * kStorePageBytes,
               limits_.no_new_leases_bytes);
  if (left.free_bytes < limits_.no_new_leases_bytes || on_disk < for_the_log) {
    left.room = Room::kNoNewLeases;
  }
  return left;
}

std::string SqliteStore::Describe() const {
  return absl::StrCat("sqlite ", LinkedSqliteVersion(), " ",
                      folder_->DatabasePath());
}

absl::StatusOr<BackupReport> SqliteStore::Backup(
    const std::string& path) const {
  const MutexLock one_at_a_time(&backing_up_);
  // Not of the pool: it is long, and readers would lack it.
  ASSIGN_OR_RETURN(
      const std::unique_ptr<Database> source,
      Database::Open(folder_->DatabasePath(), Database::Role::kReader));
  return BackUp(*source, path);
}

}  // namespace frostline::storage
