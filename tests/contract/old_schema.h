// SPDX-License-Identifier: Apache-2.0
//
// File: old_schema.h
//
// Makes of a database one as earlier versions left it: what came later is taken
// away, and rows are as they were when that has its default.
#ifndef FROSTLINE_TESTS_CONTRACT_OLD_SCHEMA_H_
#define FROSTLINE_TESTS_CONTRACT_OLD_SCHEMA_H_

#define FROSTLINE_TO_VERSION_6_                                   \
  "DROP TABLE tokens; DROP TABLE certificates; DROP TABLE audit;" \
  "ALTER TABLE studies DROP COLUMN owner;"

namespace frostline::test {

inline constexpr char kToVersion5[] = FROSTLINE_TO_VERSION_6_
    "ALTER TABLE logs DROP COLUMN place; PRAGMA user_version = 5";

inline constexpr char kToVersion1[] = FROSTLINE_TO_VERSION_6_
    "DROP TABLE logs; DROP TABLE lead; DROP TABLE summaries;"
    "DROP TABLE best_trials; DROP INDEX attempts_by_request;"
    "ALTER TABLE attempts DROP COLUMN request_id; PRAGMA user_version = 1";

}  // namespace frostline::test

#undef FROSTLINE_TO_VERSION_6_

#endif  // FROSTLINE_TESTS_CONTRACT_OLD_SCHEMA_H_
