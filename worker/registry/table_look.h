// SPDX-License-Identifier: Apache-2.0
//
// File: table_look.h
//
// Looks at the beginning of a file of rows that nobody has described yet: its
// format, its columns, what is in them.
#ifndef FROSTLINE_WORKER_REGISTRY_TABLE_LOOK_H_
#define FROSTLINE_WORKER_REGISTRY_TABLE_LOOK_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/trainer/data/row_source.h"

namespace frostline::registry {

// What a person said of a file; what is not given is found out.
struct TableHints {
  std::string format;     // "tsv", "csv", "jsonl", "conllu"
  std::string delimiter;  // one character, or "tab"
  bool has_header = true;
};

struct ColumnLook {
  std::string name;  // or its number from 1, where there is no header
  bool is_list = false;
  std::vector<std::string> values;  // of the first rows; empty of a list
};

struct TableLook {
  trainer::FileFormat format;
  bool is_delimited = true;  // TSV or CSV
  std::vector<ColumnLook> columns;

  // Null where there is none of that name.
  const ColumnLook* Find(const std::string& name) const;
};

// Refuses Parquet, spreadsheets, archives and JSON arrays: the fix is the
// command that converts them.
absl::StatusOr<TableLook> LookAtTable(const std::string& path,
                                      const TableHints& hints);

// The format that a file's name tells, "" where it tells none.
std::string FormatOfName(const std::string& path);
// Says how to make rows of a file that is read by nobody here, if it is one.
std::optional<absl::Status> NoTable(const std::string& path);

}  // namespace frostline::registry

#endif  // FROSTLINE_WORKER_REGISTRY_TABLE_LOOK_H_
