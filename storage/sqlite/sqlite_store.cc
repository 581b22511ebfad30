// SPDX-License-Identifier: Apache-2.0
#include "storage/sqlite/sqlite_store.h"

#include <sqlite3.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "storage/sqlite/schema.h"
#include "storage/sqlite/sqlite_error.h"
#include "storage/sqlite/sqlite_transaction.h"

namespace frostline {
namespace {

// 4 MiB of log. Fewer cost a sync of the database more often, more make the
// commit that pays for it slower.
constexpr int kPagesPerCheckpoint = 1000;

absl::StatusOr<std::unique_ptr<Database>> OpenWriter(const std::string& path) {
  {
    ASSIGN_OR_RETURN(const std::unique_ptr<Database> reader,
                     Database::Open(path, Database::Role::kReader));
    RETURN_IF_ERROR(ReadVersion(*reader, path, SchemaSteps()).status());
  }
  ASSIGN_OR_RETURN(std::unique_ptr<Database> writer,
                   Database::Open(path, Database::Role::kWriter));
  RETURN_IF_ERROR(QuickCheck(*writer));
  RETURN_IF_ERROR(Migrate(*writer, path, SchemaSteps()));
  return writer;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SqliteStore>> SqliteStore::Open(
    const std::string& folder) {
  ASSIGN_OR_RETURN(std::unique_ptr<DataFolder> data, DataFolder::Open(folder));
  absl::StatusOr<std::unique_ptr<Database>> writer =
      OpenWriter(data->DatabasePath());
  if (HasErrorId(writer.status(), ErrorId::kStoreFull) &&
      data->ballast().Release()) {
    writer = OpenWriter(data->DatabasePath());
  }
  RETURN_IF_ERROR(writer.status());
  return std::unique_ptr<SqliteStore>(
      new SqliteStore(std::move(data), *std::move(writer)));
}

SqliteStore::SqliteStore(std::unique_ptr<DataFolder> folder,
                         std::unique_ptr<Database> writer)
    : folder_(std::move(folder)),
      writer_(std::move(writer)),
      readers_(folder_->DatabasePath()) {}

absl::StatusOr<std::unique_ptr<Transaction>> SqliteStore::Begin() {
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
  if (pages - checkpointed_pages_ < kPagesPerCheckpoint) return;
  checkpointed_pages_ = pages;
  // The commit stands whatever comes of this: only a later one can be told. A
  // full disk is none of its business as long as the log finds room.
  const absl::Status status = writer_->Checkpoint();
  if (IsFatal(status)) Failed(status);
  if (ballast_is_out_ && status.ok() && folder_->ballast().Refill()) {
    ballast_is_out_ = false;
    Log(LogLevel::kInfo, "disk_has_room_again");
  }
}

void SqliteStore::Failed(const absl::Status& status) {
  if (IsFatal(status)) {
    if (failure_.ok()) {
      Log(LogLevel::kError, "store_failed", {{"cause", DescribeError(status)}});
    }
    failure_ = status;
  }
  if (HasErrorId(status, ErrorId::kStoreFull) && folder_->ballast().Release()) {
    ballast_is_out_ = true;
    Log(LogLevel::kWarning, "disk_full", {{"released", "frostline.ballast"}});
  }
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

}  // namespace frostline
