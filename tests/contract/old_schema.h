// SPDX-License-Identifier: Apache-2.0
//
// File: old_schema.h
//
// Makes of a database one as earlier versions left it: what came later is taken
// away, and rows are as they were when that has its default.
#ifndef FROSTLINE_TESTS_CONTRACT_OLD_SCHEMA_H_
#define FROSTLINE_TESTS_CONTRACT_OLD_SCHEMA_H_

#define FROSTLINE_TO_VERSION_9_ "DROP TABLE notifications;"
#define FROSTLINE_TO_VERSION_8_ \
  FROSTLINE_TO_VERSION_9_       \
  "ALTER TABLE outcomes DROP COLUMN evaluations;"
#define FROSTLINE_TO_VERSION_7_                           \
  FROSTLINE_TO_VERSION_8_                                 \
  "ALTER TABLE summaries DROP COLUMN costed;"             \
  "ALTER TABLE summaries DROP COLUMN total_us;"           \
  "ALTER TABLE summaries DROP COLUMN mega_flops_spent;"   \
  "ALTER TABLE summaries DROP COLUMN mega_flops_skipped;" \
  "ALTER TABLE summaries DROP COLUMN mega_flops_shared;"  \
  "ALTER TABLE summaries DROP COLUMN prefix_hits;"        \
  "ALTER TABLE summaries DROP COLUMN prefix_misses;"      \
  "ALTER TABLE summaries DROP COLUMN prefix_bytes;"       \
  "ALTER TABLE summaries DROP COLUMN fastest_mega_flops;"

#define FROSTLINE_TO_VERSION_6_                                   \
  FROSTLINE_TO_VERSION_7_                                         \
  "DROP TABLE tokens; DROP TABLE certificates; DROP TABLE audit;" \
  "ALTER TABLE studies DROP COLUMN owner;"

namespace frostline::test {

inline constexpr char kToVersion9[] =
    FROSTLINE_TO_VERSION_9_ "PRAGMA user_version = 9";

inline constexpr char kToVersion8[] =
    FROSTLINE_TO_VERSION_8_ "PRAGMA user_version = 8";

inline constexpr char kToVersion7[] =
    FROSTLINE_TO_VERSION_7_ "PRAGMA user_version = 7";

inline constexpr char kToVersion5[] = FROSTLINE_TO_VERSION_6_
    "ALTER TABLE logs DROP COLUMN place; PRAGMA user_version = 5";

inline constexpr char kToVersion1[] = FROSTLINE_TO_VERSION_6_
    "DROP TABLE logs; DROP TABLE lead; DROP TABLE summaries;"
    "DROP TABLE best_trials; DROP INDEX attempts_by_request;"
    "ALTER TABLE attempts DROP COLUMN request_id; PRAGMA user_version = 1";

}  // namespace frostline::test

#undef FROSTLINE_TO_VERSION_6_
#undef FROSTLINE_TO_VERSION_7_
#undef FROSTLINE_TO_VERSION_8_
#undef FROSTLINE_TO_VERSION_9_

#endif  // FROSTLINE_TESTS_CONTRACT_OLD_SCHEMA_H_
