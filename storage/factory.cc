// SPDX-License-Identifier: Apache-2.0
#include "storage/factory.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "storage/postgres/postgres_store.h"
#include "storage/sqlite/backup.h"
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

std::string SqliteVersion() { return LinkedSqliteVersion(); }

std::int32_t SchemaVersion() {
  return static_cast<std::int32_t>(SchemaSteps().size());
}

}  // namespace frostline::storage
