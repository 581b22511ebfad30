// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/imported_table.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "cli/commands/imported_point.h"
#include "cli/study_file/yaml_scalar.h"
#include "google/protobuf/util/json_util.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

constexpr std::size_t kMaxCell = 100;

// What the export says of a trial that an import cannot take over.
bool IsLeftOut(const std::string& column) {
  static const auto* const kColumns = new std::set<std::string>{
      "number", "origin", "attempt", "worker", "cause"};
  return kColumns->contains(column);
}

// As the export writes values: choices in JSON, rates of 0 as "frozen".
google::protobuf::Value ImportedValueOf(const std::string& cell) {
  google::protobuf::Value value;
  if (cell == "frozen") {
    value.set_number_value(0.0);
  } else if (const auto number = ReadDouble(cell)) {
    value.set_number_value(*number);
  } else if (!google::protobuf::util::JsonStringToMessage(cell, &value).ok()) {
    value.set_string_value(cell);
  }
  return value;
}

class TableReader {
 public:
  TableReader(const std::string& file, const v1::StudySpec& spec)
      : file_(file), spec_(spec), check_(spec) {
    for (const v1::Objective& one : spec.objectives()) {
      metrics_.insert(one.metric());
    }
  }

  absl::Status TakeHeader(const CsvRow& row) {
    columns_ = row.cells;
    for (const std::string& column : columns_) {
      if (column.empty() || std::ranges::count(columns_, column) > 1) {
        return BadLine(
            file_, row.line,
            absl::StrCat("the column '", proto::CleanText(column, kMaxCell),
                         "' is there twice or has no name"),
            "give each column a name of its own");
      }
    }
    return check_.Columns(columns_, file_, row.line);
  }

  absl::Status Take(const CsvRow& row) {
    if (row.cells.size() != columns_.size()) {
      return BadLine(file_, row.line,
                     absl::StrCat("the row has ", row.cells.size(),
                                  " cells, the header ", columns_.size()),
                     "write a cell for each column; an empty one is no value");
    }
    v1::ImportedTrial trial;
    trial.set_state(v1::TRIAL_STATE_SUCCEEDED);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string& cell = row.cells[i];
      if (cell.empty() || IsLeftOut(columns_[i])) continue;
      if (!Put(columns_[i], cell, trial)) {
        return BadLine(file_, row.line,
                       absl::StrCat("'", proto::CleanText(cell, kMaxCell),
                                    "' is no ", columns_[i]),
                       columns_[i] == "state"
                           ? "write SUCCEEDED, PRUNED, INFEASIBLE or FAILED"
                           : "write a number");
      }
    }
    if (!HasResult(trial.state())) {
      ++read_.skipped;
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(check_.Point(trial, file_, row.line));
    RETURN_IF_ERROR(CheckObjectives(trial, spec_, file_, row.line));
    read_.trials.push_back(std::move(trial));
    read_.lines.push_back(row.line);
    return absl::OkStatus();
  }

  ImportedLines Finish() && { return std::move(read_); }

 private:
  bool Put(const std::string& column, const std::string& cell,
           v1::ImportedTrial& trial) const {
    if (column == "state") {
      const auto* const state =
          ReadEnum(absl::AsciiStrToLower(cell), *v1::TrialState_descriptor());
      if (state == nullptr) return false;
      trial.set_state(static_cast<v1::TrialState>(state->number()));
      return true;
    }
    if (column == "seed") {
      const auto seed = ReadUint(cell);
      if (seed.has_value()) trial.set_seed(*seed);
      return seed.has_value();
    }
    if (column == "train_seconds" || metrics_.contains(column)) {
      const auto number = ReadDouble(cell);
      if (!number.has_value()) return false;
      if (metrics_.contains(column)) {
        (*trial.mutable_metrics())[column] = *number;
      } else if (*number > 0.0) {
        trial.mutable_usage()->set_train_seconds(*number);
      }
      return true;
    }
    (*trial.mutable_parameters())[column] = ImportedValueOf(cell);
    return true;
  }

  const std::string& file_;
  const v1::StudySpec& spec_;
  const PointCheck check_;
  std::set<std::string> metrics_;
  std::vector<std::string> columns_;
  ImportedLines read_;
};

}  // namespace

absl::StatusOr<std::vector<CsvRow>> ParseCsv(const std::string& text,
                                             const std::string& file) {
  std::vector<CsvRow> rows;
  CsvRow row{.line = 1, .cells = {""}};
  std::size_t line = 1;
  bool quoted = false;
  const auto end_row = [&] {
    const bool blank = row.cells.size() == 1 && row.cells[0].empty();
    if (!blank) rows.push_back(row);
    row = {.line = line, .cells = {""}};
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') ++line;
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      row.cells.back() += c;
      ++i;
    } else if (c == '"' && (quoted || row.cells.back().empty())) {
      quoted = !quoted;
    } else if (quoted) {
      row.cells.back() += c;
    } else if (c == ',') {
      row.cells.emplace_back();
    } else if (c == '\n') {
      end_row();
    } else if (c != '\r') {
      row.cells.back() += c;
    }
  }
  if (quoted) {
    return BadLine(file, row.line, "a quote is not closed",
                   "close it, or save the table as CSV again");
  }
  end_row();
  return rows;
}

absl::StatusOr<ImportedLines> ParseImportedTable(const std::string& text,
                                                 const std::string& file,
                                                 const v1::StudySpec& spec) {
  ASSIGN_OR_RETURN(const std::vector<CsvRow> rows, ParseCsv(text, file));
  if (rows.empty()) {
    return BadLine(file, 1, "the table is empty", "name its columns in a row");
  }
  TableReader reader(file, spec);
  RETURN_IF_ERROR(reader.TakeHeader(rows.front()));
  if (rows.size() == 1) {
    return BadLine(file, rows.front().line,
                   "the table has no row but its names",
                   "write a row for each trial below them");
  }
  for (std::size_t i = 1; i < rows.size(); ++i) {
    RETURN_IF_ERROR(reader.Take(rows[i]));
  }
  return std::move(reader).Finish();
}

}  // namespace frostline::cli
