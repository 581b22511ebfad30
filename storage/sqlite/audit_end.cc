// SPDX-License-Identifier: Apache-2.0
#include "storage/sqlite/audit_end.h"

#include <filesystem>
#include <limits>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/status_macros.h"
#include "storage/sqlite/data_folder.h"
#include "storage/sqlite/database.h"
#include "storage/sqlite/row_codec.h"
#include "storage/sqlite/schema.h"
#include "storage/sqlite/sql.h"

namespace frostline::storage {
namespace {

// Whether a coordinator has it open, or one was killed.
bool HasLog(const std::string& path) {
  std::error_code none;
  return std::filesystem::exists(path + "-wal", none);
}

}  // namespace

absl::StatusOr<AuditEnd> AuditEndIn(const std::string& data_folder) {
  const std::string path = DatabaseIn(data_folder);
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("there is no database in ", data_folder),
                     "name the folder of `frostline serve --data`");
  }
  const auto role =
      HasLog(path) ? Database::Role::kReader : Database::Role::kStill;
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database,
                   Database::Open(path, role));
  RETURN_IF_ERROR(ReadVersion(*database, path, SchemaSteps()).status());
  AuditEnd end;
  ASSIGN_OR_RETURN(
      const std::int64_t tables,
      database->ReadInt(
          "SELECT count(*) FROM sqlite_schema WHERE name = 'audit'"));
  if (tables == 0) return end;  // of a version without one
  ASSIGN_OR_RETURN(Statement statement, database->Prepare(sql::kListAudit));
  statement.Int(kAuditMoved - 1);
  statement.Int(std::numeric_limits<std::int64_t>::max());
  while (true) {
    ASSIGN_OR_RETURN(const bool found, statement.Step());
    if (!found) return end;
    ASSIGN_OR_RETURN(AuditRow row, ReadRow<AuditRow>(statement));
    if (row.first == kAuditMoved) {
      end.moved = row.last;
    } else {
      end.rows.push_back(std::move(row));
    }
  }
}

}  // namespace frostline::storage
