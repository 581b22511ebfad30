// SPDX-License-Identifier: Apache-2.0
//
// File: schema.h
//
// The tables, and how an older database becomes a newer one: forward only, in
// one transaction for each step.
#ifndef FROSTLINE_STORAGE_SQLITE_SCHEMA_H_
#define FROSTLINE_STORAGE_SQLITE_SCHEMA_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "storage/sqlite/database.h"

namespace frostline::storage {

// The database's PRAGMA application_id: "FROS".
inline constexpr std::int64_t kApplicationId = 0x46524f53;

// Returns the steps. Step i leads from version i to i + 1 (PRAGMA
// user_version). A released step never changes.
const std::vector<std::string>& SchemaSteps();

// Returns the version of a database; 0 for a new and empty one. The error is
// STORE_VERSION when it is newer than the last step, or not ours. Use a reader,
// before a writer's settings change the file.
absl::StatusOr<std::int64_t> ReadVersion(Database& database,
                                         const std::string& path,
                                         const std::vector<std::string>& steps);

// Takes the missing steps. A database that is not new is first copied to
// `path`.v<version>. The error is STORE_VERSION as from ReadVersion().
absl::Status Migrate(Database& database, const std::string& path,
                     const std::vector<std::string>& steps);

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SQLITE_SCHEMA_H_
