// SPDX-License-Identifier: Apache-2.0
//
// File: factory.h
//
// Opens the store, whatever its backend.
#ifndef FROSTLINE_STORAGE_FACTORY_H_
#define FROSTLINE_STORAGE_FACTORY_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "storage/copy.h"
#include "storage/trial_store.h"

namespace frostline::storage {

// Which store to open.
struct StoreSpec {
  std::string data_folder;  // created if it is missing
  bool ephemeral = false;   // removed at the end; data_folder is not used
  // A PostgreSQL database that has the rows, as libpq names it. The folder then
  // has what is no row: the lease key, and when coordinators started.
  std::string url = {};
  StoreLimits limits = {};
};

// Opens the store. The errors are those of SqliteStore::Open or
// PostgresStore::Open.
absl::StatusOr<std::unique_ptr<TrialStore>> OpenStore(const StoreSpec& spec);

// Does what RestoreBackup() does (sqlite/backup.h).
absl::StatusOr<BackupReport> RestoreStore(const std::string& backup_file,
                                          const std::string& data_folder);

// Copies the database `from` to `to`, each a data folder or the URL of a
// PostgreSQL database, which begins with postgres:// or postgresql://, and
// proves that both then hold the same (copy.h). Neither may be in use. What is
// beside the rows, as the lease key, stays. The errors are those of CopyAll()
// and of the two sides (sqlite/copy.h, postgres/copy.h), or REQUEST_INVALID
// when both are the same; after any of them the target is as it was.
absl::StatusOr<CopyReport> CopyDatabase(const std::string& from,
                                        const std::string& to);

// Reads what the database of a data folder has of the audit, whether or not a
// coordinator runs there. The error is REQUEST_INVALID when there is no
// database, STORE_VERSION when it is not ours, STORE_CORRUPT when it is
// damaged.
absl::StatusOr<AuditEnd> ReadAuditEnd(const std::string& data_folder);

// The sizes of a store's files.
struct StoreBytes {
  std::int64_t database = 0;
  std::int64_t log = 0;  // the write-ahead log
};

// Returns the sizes of the files in the folder; 0 for a file that is not there.
StoreBytes BytesIn(const std::string& data_folder);

// Returns the version of the SQLite library that this program uses: "3.40.1".
std::string SqliteVersion();

// Returns the version of the tables in every open store on a disk.
std::int32_t SchemaVersion();

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_FACTORY_H_
