// SPDX-License-Identifier: Apache-2.0
//
// File: guess.h
//
// Guesses what the columns of a data set are: from the names that data sets
// often use, then from what is in the columns. If in doubt, the error asks.
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

// What a person said about a file of rows. The rest is found out.
struct TableHints {
  std::string format = {};     // "tsv", "csv", "jsonl", "conllu"
  std::string delimiter = {};  // one character, or "tab"
  std::optional<bool> has_header = {};
  // Columns that a person named: a first line that has one names columns.
  std::vector<std::string> named = {};
};

// Returns the hints with these columns as named.
TableHints WithNames(TableHints hints, const trainer::ColumnMap& columns);

// A column of a file, and what is in its first rows.
struct ColumnLook {
  std::string name;  // or its number, from 1, if there is no header
  bool is_list = false;
  std::vector<std::string> values;  // of the first rows; empty for a list
};

// What the beginning of a file says: its format, its columns, what is in them.
struct TableLook {
  trainer::FileFormat format;
  bool is_delimited = true;        // TSV or CSV
  bool is_header_guessed = false;  // nobody said whether there is one
  std::vector<ColumnLook> columns;

  // Returns null if there is no column of that name.
  const ColumnLook* Find(const std::string& name) const;
};

// Looks at the beginning of a file. The error for Parquet, spreadsheets,
// archives and JSON arrays has the command that converts them as its fix. A
// first row that may be names or a row is an error that asks, so that no row is
// lost without a word.
absl::StatusOr<TableLook> LookAtTable(const std::string& path,
                                      const TableHints& hints);

// Returns the format that a file's name says, or "".
std::string FormatOfName(const std::string& path);
// Returns the error for a file in a format that cannot be read; nothing for any
// other file.
std::optional<absl::Status> NoTable(const std::string& path);

// The task of a data set, and which columns it uses for what.
struct RoleGuess {
  trainer::TaskName task;
  trainer::ColumnMap columns;        // from roles to columns
  std::vector<std::string> guessed;  // the roles that nobody had named
};

// Whether a data set has to have labels.
enum class Labels {
  kNeeded,   // to train on
  kIfThere,  // to measure answers, if a column is called so
};

// Guesses the task and the columns. `said` are the columns that a person named,
// `task` the task or "". The error for a column that is not there names the
// nearest one.
absl::StatusOr<RoleGuess> GuessRoles(const std::string& path,
                                     const TableLook& look,
                                     const trainer::ColumnMap& said,
                                     const std::string& task,
                                     Labels labels = Labels::kNeeded);

// A file of rows that a trained model is to answer.
struct RowsToPredict {
  trainer::FileFormat format;
  std::string format_name;
  trainer::ColumnMap columns;  // from roles to columns
  bool labelled = false;
};

// Finds out how to read such a file: its format, its columns, and whether it
// has labels to measure by. `model` is the folder of a fine-tuned model, whose
// config.json says what it answers; `said` are the columns that a person named.
// If in doubt, the error asks.
absl::StatusOr<RowsToPredict> LookAtRowsToPredict(
    const std::string& model, const std::string& file,
    const trainer::ColumnMap& said, const TableHints& hints);

}  // namespace frostline::registry

#endif  // FROSTLINE_WORKER_REGISTRY_GUESS_H_
