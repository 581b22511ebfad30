// SPDX-License-Identifier: Apache-2.0
#include "storage/sqlite/copy.h"

#include <sqlite3.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "storage/sqlite/backup.h"
#include "storage/sqlite/data_folder.h"
#include "storage/sqlite/database.h"
#include "storage/sqlite/schema.h"
#include "storage/trial_store.h"

namespace frostline::storage {
namespace {

// The reading side: a source's, and a target's of what was written.
template <typename Side>
class SqliteReading : public Side {
 public:
  SqliteReading(std::unique_ptr<DataFolder> folder,
                std::unique_ptr<Database> database)
      : folder_(std::move(folder)), database_(std::move(database)) {}

  absl::StatusOr<std::set<std::string>> ColumnNames() override {
    ASSIGN_OR_RETURN(
        Statement statement,
        database_->Prepare(
            "SELECT t.name || '.' || c.name FROM sqlite_schema t "
            "JOIN pragma_table_info(t.name) c "
            "WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%'"));
    std::set<std::string> names;
    while (true) {
      ASSIGN_OR_RETURN(const bool found, statement.Step());
      if (!found) return names;
      names.insert(statement.BytesAt(0));
    }
  }

  absl::StatusOr<std::int64_t> CountRows(const StoredTable& table) override {
    return database_->ReadInt(
        absl::StrCat("SELECT count(*) FROM ", table.name));
  }

  absl::Status ReadRows(
      const StoredTable& table,
      absl::FunctionRef<absl::Status(const StoredRow&)> visit) override {
    ASSIGN_OR_RETURN(Statement statement,
                     database_->Prepare(SelectStored(table)));
    while (true) {
      ASSIGN_OR_RETURN(const bool found, statement.Step());
      if (!found) return absl::OkStatus();
      RETURN_IF_ERROR(visit(TakeStored(table, statement)));
    }
  }

  absl::StatusOr<StudyKey> LastStudyKey() override {
    return database_->ReadInt(
        "SELECT seq FROM sqlite_sequence WHERE name = 'studies'");
  }

 protected:
  std::unique_ptr<DataFolder> folder_;  // destroyed last: it is the lock
  std::unique_ptr<Database> database_;
};

using SqliteCopySource = SqliteReading<CopySource>;

// Removes what a killed copy left: with its journal, which SQLite would make
// part of a new file of that name.
void RemovePartial(const std::string& partial) {
  std::error_code ignored;  // what stays is told of when the file is made
  for (const char* const suffix : {"-journal", "-wal", "-shm", ""}) {
    std::filesystem::remove(partial + suffix, ignored);
  }
}

class SqliteCopyTarget final : public SqliteReading<CopyTarget> {
 public:
  explicit SqliteCopyTarget(std::unique_ptr<DataFolder> folder)
      : SqliteReading(std::move(folder), nullptr),
        partial_(folder_->DatabasePath() + ".partial") {}
  ~SqliteCopyTarget() override {
    database_.reset();
    if (!is_kept_) RemovePartial(partial_);
  }

  absl::Status Begin() {
    RemovePartial(partial_);
    RETURN_IF_ERROR(CreateFile(partial_));
    // A reader makes no log: nothing is written twice, and the file is complete
    // by itself.
    ASSIGN_OR_RETURN(database_,
                     Database::Open(partial_, Database::Role::kReader));
    RETURN_IF_ERROR(
        database_->Execute("PRAGMA query_only = OFF;"
                           "PRAGMA auto_vacuum = INCREMENTAL;"
                           "PRAGMA cache_size = -16384;"));
    RETURN_IF_ERROR(Migrate(*database_, partial_, SchemaSteps()));
    return database_->Execute("BEGIN IMMEDIATE");
  }

  absl::Status WriteRow(const StoredTable& table,
                        const StoredRow& row) override {
    ASSIGN_OR_RETURN(Statement statement,
                     database_->Prepare(InsertStored(table, '?')));
    PutStored(table, row, statement);
    const absl::Status status = statement.Run();
    if (status.ok()) return absl::OkStatus();
    if ((statement.code() & 0xff) != SQLITE_CONSTRAINT) {
      return WriteFailed(statement.code());
    }
    return StoreCorrupt(
        absl::StrCat(table.name, ": the row of ", DescribeKey(table, row),
                     " breaks a rule of the tables: ", status.message()));
  }

  absl::Status WriteLastStudyKey(StudyKey key) override {
    RETURN_IF_ERROR(database_->Execute(
        "DELETE FROM sqlite_sequence WHERE name = 'studies'"));
    if (key == 0) return absl::OkStatus();
    return database_->Execute(absl::StrCat(
        "INSERT INTO sqlite_sequence (name, seq) VALUES ('studies', ", key,
        ")"));
  }

  absl::Status EndWriting() override {
    const int code =
        sqlite3_exec(database_->handle(), "COMMIT", nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return WriteFailed(code);
    database_.reset();
    RETURN_IF_ERROR(SyncFile(partial_));
    RETURN_IF_ERROR(CheckWhole(partial_).status());
    ASSIGN_OR_RETURN(database_,
                     Database::Open(partial_, Database::Role::kStill));
    return absl::OkStatus();
  }

  absl::Status Commit() override {
    database_.reset();
    RETURN_IF_ERROR(RenameFile(partial_, folder_->DatabasePath()));
    is_kept_ = true;
    return absl::OkStatus();
  }

 private:
  // There is no log: what a full disk refuses is the database itself.
  absl::Status WriteFailed(int code) {
    return SqliteError(database_->handle(), code, "write the copy",
                       Target::kDatabase);
  }

  const std::string partial_;
  bool is_kept_ = false;
};

absl::Status CheckFree(const std::string& path) {
  std::error_code none;
  const bool is_there = std::filesystem::exists(path, none) &&
                        std::filesystem::file_size(path, none) > 0;
  const std::string companion = CompanionOf(path);
  if (!is_there && companion.empty()) return absl::OkStatus();
  return MakeError(ErrorId::kStoreUnwritable,
                   absl::StrCat(is_there ? path : companion,
                                " is there already, and a copy replaces "
                                "nothing"),
                   "move the database and everything named like it out of the "
                   "data folder, or give another folder",
                   "--copy-to");
}

}  // namespace

absl::StatusOr<std::unique_ptr<CopySource>> OpenSqliteToCopy(
    const std::string& data_folder) {
  const std::string path = DatabaseIn(data_folder);
  const std::string fix = "name the folder of `frostline serve --data`";
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return NothingToCopy(data_folder, fix);
  }
  ASSIGN_OR_RETURN(std::unique_ptr<DataFolder> folder,
                   DataFolder::Lock(data_folder));
  // A coordinator that was killed left its log, which is read with the rest.
  const auto role = CompanionOf(path).empty() ? Database::Role::kStill
                                              : Database::Role::kReader;
  ASSIGN_OR_RETURN(std::unique_ptr<Database> database,
                   Database::Open(path, role));
  ASSIGN_OR_RETURN(const std::int64_t version,
                   ReadVersion(*database, path, SchemaSteps()));
  const auto newest = static_cast<std::int64_t>(SchemaSteps().size());
  if (version == 0) return NothingToCopy(data_folder, fix);
  if (version < newest) return OlderTables(path, version, newest);
  // A damaged index could hide a row.
  ASSIGN_OR_RETURN(const std::string found,
                   database->ReadText("PRAGMA integrity_check(1)"));
  if (found != "ok") {
    return StoreCorrupt(absl::StrCat("integrity_check of ", path, ": ", found));
  }
  return std::make_unique<SqliteCopySource>(std::move(folder),
                                            std::move(database));
}

absl::StatusOr<std::unique_ptr<CopyTarget>> BeginSqliteCopy(
    const std::string& data_folder) {
  ASSIGN_OR_RETURN(std::unique_ptr<DataFolder> folder,
                   DataFolder::Lock(data_folder));
  RETURN_IF_ERROR(CheckFree(folder->DatabasePath()));
  auto target = std::make_unique<SqliteCopyTarget>(std::move(folder));
  RETURN_IF_ERROR(target->Begin());
  return target;
}

}  // namespace frostline::storage
