// SPDX-License-Identifier: Apache-2.0
#include "storage/sqlite/schema.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/status_macros.h"
#include "storage/sqlite/backup.h"

namespace frostline::storage {
namespace {

absl::Status WrongVersion(const std::string& cause) {
  return MakeError(ErrorId::kStoreVersion, cause,
                   "use the Frostline that wrote it, or a newer one");
}

absl::Status TakeStep(Database& database, const std::string& step,
                      std::int64_t version) {
  absl::Status status = database.Execute(absl::StrCat(
      "BEGIN IMMEDIATE;", step, "PRAGMA application_id = ", kApplicationId,
      ";PRAGMA user_version = ", version, ";"));
  FROSTLINE_FAILPOINT(kMigrateStep);
  if (status.ok()) status = database.Execute("COMMIT");
  if (!status.ok() && database.InTransaction()) {
    database.Execute("ROLLBACK").IgnoreError();  // the first error is the cause
  }
  return status;
}

}  // namespace

absl::StatusOr<std::int64_t> ReadVersion(
    Database& database, const std::string& path,
    const std::vector<std::string>& steps) {
  ASSIGN_OR_RETURN(const std::int64_t version,
                   database.ReadInt("PRAGMA user_version"));
  ASSIGN_OR_RETURN(const std::int64_t application,
                   database.ReadInt("PRAGMA application_id"));
  ASSIGN_OR_RETURN(const std::int64_t tables,
                   database.ReadInt("SELECT count(*) FROM sqlite_schema"));
  if (tables == 0 && version == 0) return 0;
  if (application != kApplicationId) {
    return WrongVersion(absl::StrCat(path, " is no database of Frostline"));
  }
  const auto newest = static_cast<std::int64_t>(steps.size());
  if (version < 1 || version > newest) {
    return WrongVersion(absl::StrCat(path, " has version ", version,
                                     ", this program knows ", newest));
  }
  return version;
}

absl::Status Migrate(Database& database, const std::string& path,
                     const std::vector<std::string>& steps) {
  ASSIGN_OR_RETURN(const std::int64_t version,
                   ReadVersion(database, path, steps));
  const auto newest = static_cast<std::int64_t>(steps.size());
  if (version > 0 && version < newest) {
    const std::string copy = absl::StrCat(path, ".v", version);
    std::error_code ignored;  // one may be left by a step that was killed
    std::filesystem::remove(copy, ignored);
    RETURN_IF_ERROR(BackUp(database, copy).status());
    FROSTLINE_FAILPOINT(kMigrateBefore);
  }
  for (std::int64_t from = version; from < newest; ++from) {
    RETURN_IF_ERROR(
        TakeStep(database, steps[static_cast<std::size_t>(from)], from + 1));
    FROSTLINE_FAILPOINT(kMigrateAfter);
  }
  return absl::OkStatus();
}

}  // namespace frostline::storage
