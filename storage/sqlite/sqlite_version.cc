// SPDX-License-Identifier: Apache-2.0
#include "storage/sqlite/sqlite_version.h"

#include <sqlite3.h>

namespace frostline::storage {

std::string LinkedSqliteVersion() { return sqlite3_libversion(); }

}  // namespace frostline::storage
