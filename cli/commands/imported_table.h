// SPDX-License-Identifier: Apache-2.0
//
// File: imported_table.h
//
// A table of trials in CSV: a column "state", or none where all succeeded, one
// for each objective, and the others are parameters. The columns that
// `study export --format csv` writes besides are known.
#ifndef FROSTLINE_CLI_COMMANDS_IMPORTED_TABLE_H_
#define FROSTLINE_CLI_COMMANDS_IMPORTED_TABLE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/commands/imported_lines.h"

namespace frostline::cli {

struct CsvRow {
  std::size_t line = 0;  // where it begins, from 1
  std::vector<std::string> cells;
};

// As RFC 4180 has it; blank lines are left out. It answers the error of
// BadLine() for a quote that is not closed.
absl::StatusOr<std::vector<CsvRow>> ParseCsv(const std::string& text,
                                             const std::string& file);

// As ParseImportedLines().
absl::StatusOr<ImportedLines> ParseImportedTable(const std::string& text,
                                                 const std::string& file,
                                                 const v1::StudySpec& spec);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_IMPORTED_TABLE_H_
