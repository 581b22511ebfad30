// SPDX-License-Identifier: Apache-2.0
//
// File: guess.h
//
// Guesses which column is what from names that data sets mostly use, then from
// what is in the columns; in doubt it asks.
#ifndef FROSTLINE_WORKER_REGISTRY_GUESS_H_
#define FROSTLINE_WORKER_REGISTRY_GUESS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/trainer/data/dataset.h"
#include "worker/trainer/data/row_source.h"

namespace frostline::registry {

// Looks at the beginning of a file of rows that nobody has described yet: its
// format, its columns, what is in them.

// What a person said about a file. The rest is found out.
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

struct RoleGuess {
  trainer::TaskName task;
  trainer::ColumnMap columns;        // from roles to columns
  std::vector<std::string> guessed;  // the roles that nobody had named
};

enum class Labels {
  kNeeded,   // to train on
  kIfThere,  // to measure answers: a column that is called so, or none
};

// `said` are the columns that a person named, `task` the task or "". A column
// that is not there is an error that names the nearest.
absl::StatusOr<RoleGuess> GuessRoles(const std::string& path,
                                     const TableLook& look,
                                     const trainer::ColumnMap& said,
                                     const std::string& task,
                                     Labels labels = Labels::kNeeded);

// Finds out what a trained model is to answer in a file that nobody has
// described: its format, its columns, and whether it has labels to measure by.

struct RowsToPredict {
  trainer::FileFormat format;
  std::string format_name;
  trainer::ColumnMap columns;  // from roles to columns
  bool labelled = false;
};

// `model` is the folder of a fine-tuned model, whose config.json says what it
// answers; `said` are the columns that a person named. In doubt it asks.
absl::StatusOr<RowsToPredict> LookAtRowsToPredict(
    const std::string& model, const std::string& file,
    const trainer::ColumnMap& said, const TableHints& hints);

}  // namespace frostline::registry

#endif  // FROSTLINE_WORKER_REGISTRY_GUESS_H_
