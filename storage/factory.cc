// SPDX-License-Identifier: Apache-2.0
#include "storage/factory.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "base/error.h"
#include "storage/postgres/copy.h"
#include "storage/postgres/postgres_store.h"
#include "storage/sqlite/backup.h"
#include "storage/sqlite/copy.h"
#include "storage/sqlite/data_folder.h"
#include "storage/sqlite/database.h"
#include "storage/sqlite/schema.h"
#include "storage/sqlite/sqlite_store.h"

namespace frostline::storage {

namespace {

absl::StatusOr<std::unique_ptr<TrialStore>> OpenPostgres(
    const StoreSpec& spec) {
  RETURN_IF_ERROR(CreateFolder(spec.data_folder));
  ASSIGN_OR_RETURN(std::shared_ptr<DataFolder> folder,
                   DataFolder::Lock(spec.data_folder));
  KeptBeside beside;
  beside.lease_key = [folder] { return KeepLeaseKey(folder->LeaseKeyPath()); };
  beside.note_start = [folder](WallMicros now) {
    return NoteStartIn(folder->StartsPath(), now);
  };
  beside.free_bytes = [folder] { return folder->FreeBytes(); };
  ASSIGN_OR_RETURN(std::unique_ptr<PostgresStore> store,
                   PostgresStore::Open(spec.url, std::move(beside)));
  return store;
}

bool IsPostgres(const std::string& place) {
  return absl::StartsWith(place, "postgres://") ||
         absl::StartsWith(place, "postgresql://");
}

}  // namespace

absl::StatusOr<std::unique_ptr<TrialStore>> OpenStore(const StoreSpec& spec) {
  if (!spec.url.empty()) return OpenPostgres(spec);
  ASSIGN_OR_RETURN(std::unique_ptr<SqliteStore> store,
                   spec.ephemeral
                       ? SqliteStore::OpenEphemeral(spec.limits)
                       : SqliteStore::Open(spec.data_folder, spec.limits));
  return store;
}

StoreBytes BytesIn(const std::string& data_folder) {
  const auto size_of = [](const std::string& path) -> std::int64_t {
    std::error_code failure;
    const std::uintmax_t bytes = std::filesystem::file_size(path, failure);
    return failure ? 0 : static_cast<std::int64_t>(bytes);
  };
  const std::string database = DatabaseIn(data_folder);
  return {.database = size_of(database), .log = size_of(database + "-wal")};
}

absl::StatusOr<AuditEnd> ReadAuditEnd(const std::string& data_folder) {
  return AuditEndIn(data_folder);
}

absl::StatusOr<BackupReport> RestoreStore(const std::string& backup_file,
                                          const std::string& data_folder) {
  return RestoreBackup(backup_file, data_folder);
}

absl::StatusOr<CopyReport> CopyDatabase(const std::string& from,
                                        const std::string& to) {
  std::error_code unknown;  // one that is not there is no other's
  if (from == to || std::filesystem::equivalent(from, to, unknown)) {
    return MakeError(ErrorId::kRequestInvalid,
                     "source and target are the same database",
                     "name another one to copy to", "--copy-to");
  }
  ASSIGN_OR_RETURN(
      const std::unique_ptr<CopySource> source,
      IsPostgres(from) ? OpenPostgresToCopy(from) : OpenSqliteToCopy(from));
  ASSIGN_OR_RETURN(
      const std::unique_ptr<CopyTarget> target,
      IsPostgres(to) ? BeginPostgresCopy(to) : BeginSqliteCopy(to));
  return CopyAll(*source, *target);
}

std::string SqliteVersion() { return LinkedSqliteVersion(); }

std::int32_t SchemaVersion() {
  return static_cast<std::int32_t>(SchemaSteps().size());
}

}  // namespace frostline::storage
