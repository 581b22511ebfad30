// SPDX-License-Identifier: Apache-2.0
#include "storage/sqlite/schema.h"

#include <sqlite3.h>

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/status_macros.h"
#include "storage/sqlite/backup.h"
#include "storage/sqlite/sqlite_error.h"

namespace frostline {
namespace {

constexpr Duration kCheckTime = std::chrono::milliseconds(100);
constexpr int kInstructionsBetweenLooks = 10'000;

absl::Status WrongVersion(const std::string& cause) {
  return MakeError(ErrorId::kStoreVersion, cause,
                   "use the Frostline that wrote it, or a newer one");
}

absl::Status TakeStep(Database& database, const std::string& step,
                      std::int64_t version) {
  absl::Status status = database.Execute(absl::StrCat(
      "BEGIN IMMEDIATE;", step, "PRAGMA application_id = ", kApplicationId,
      ";PRAGMA user_version = ", version, ";COMMIT;"));
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
  }
  for (std::int64_t from = version; from < newest; ++from) {
    RETURN_IF_ERROR(
        TakeStep(database, steps[static_cast<std::size_t>(from)], from + 1));
  }
  return absl::OkStatus();
}

absl::Status QuickCheck(Database& database) {
  const SystemClock clock;
  struct Limit {
    const Clock& clock;
    SteadyTime end;
  } limit{clock, clock.Steady() + kCheckTime};
  sqlite3_progress_handler(
      database.handle(), kInstructionsBetweenLooks,
      [](void* data) {
        const auto* running = static_cast<const Limit*>(data);
        return running->clock.Steady() > running->end ? 1 : 0;
      },
      &limit);
  const absl::StatusOr<std::string> found =
      database.ReadText("PRAGMA quick_check(1)");
  const bool out_of_time =
      sqlite3_errcode(database.handle()) == SQLITE_INTERRUPT;
  sqlite3_progress_handler(database.handle(), 0, nullptr, nullptr);
  if (out_of_time) return absl::OkStatus();
  RETURN_IF_ERROR(found.status());
  if (*found == "ok") return absl::OkStatus();
  return StoreCorrupt(absl::StrCat("quick_check: ", *found));
}

}  // namespace frostline
