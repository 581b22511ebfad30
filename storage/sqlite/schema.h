// SPDX-License-Identifier: Apache-2.0
//
// File: schema.h
//
// An older database becomes a newer one forward only, in one transaction per
// step.
#ifndef FROSTLINE_STORAGE_SQLITE_SCHEMA_H_
#define FROSTLINE_STORAGE_SQLITE_SCHEMA_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "storage/sqlite/database.h"

namespace frostline::storage {

// PRAGMA application_id is "FROS".
inline constexpr std::int64_t kApplicationId = 0x46524f53;

// Step i leads from version i to i + 1 (PRAGMA user_version). A released step
// never changes.
const std::vector<std::string>& SchemaSteps();

// Answers 0 for a new and empty one, STORE_VERSION when it is newer than the
// last step, or not ours. Ask it on a reader, before a writer's settings touch
// the file.
absl::StatusOr<std::int64_t> ReadVersion(Database& database,
                                         const std::string& path,
                                         const std::vector<std::string>& steps);

// Takes the steps that are missing. A database that is not new is first copied
// to `path`.v<version>. It answers STORE_VERSION as ReadVersion() does.
absl::Status Migrate(Database& database, const std::string& path,
                     const std::vector<std::string>& steps);

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SQLITE_SCHEMA_H_
