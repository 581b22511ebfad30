// SPDX-License-Identifier: Apache-2.0
#include "storage/makings.h"

#include "storage/sqlite/schema.h"
#include "storage/sqlite/sqlite_version.h"

namespace frostline::storage {

std::string SqliteVersion() { return LinkedSqliteVersion(); }

std::int32_t SchemaVersion() {
  return static_cast<std::int32_t>(SchemaSteps().size());
}

}  // namespace frostline::storage
