// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/imported_lines.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/plain/sums.h"
#include "cli/study_file/yaml_sugar.h"
#include "cli/view/format.h"
#include "cli/view/trial_view.h"
#include "google/protobuf/util/json_util.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

// Parses a line. Unknown fields are accepted, because a later version may add
// some.
template <typename Message>
bool ParseImportedLine(const std::string& line, Message* message) {
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  return google::protobuf::util::JsonStringToMessage(line, message, options)
      .ok();
}

// Returns whether a line is {"trial": "studies/imdb/trials/3", "measurements":
// […]}.
bool IsMeasurements(const google::protobuf::Struct& line) {
  return line.fields().contains("measurements") &&
         !line.fields().contains("state");
}

class LineReader {
 public:
  LineReader(const std::string& file, const v1::StudySpec& spec)
      : file_(file), spec_(spec), check_(spec) {}

  absl::Status Take(const std::string& text, std::size_t line) {
    google::protobuf::Struct keys;
    if (!ParseImportedLine(text, &keys)) {
      return Bad(line, "the line is no JSON object");
    }
    if (IsMeasurements(keys)) return TakeMeasurements(text, line);
    v1::Trial trial;
    if (!ParseImportedLine(text, &trial)) {
      return Bad(line, "a value of this trial is of another type");
    }
    if (trial.state() == v1::TRIAL_STATE_UNSPECIFIED) {
      return Bad(line, "the trial has no state");
    }
    RETURN_IF_ERROR(CheckOnce(trial, file_, line));
    last_ = trial.name();
    last_is_taken_ = HasResult(trial.state());
    if (!last_is_taken_) {
      ++read_.skipped;
      return absl::OkStatus();
    }
    v1::ImportedTrial imported = ImportedFrom(trial);
    RETURN_IF_ERROR(check_.Point(imported, file_, line));
    RETURN_IF_ERROR(CheckObjectives(imported, spec_, file_, line));
    RETURN_IF_ERROR(CheckNote(trial, file_, line));
    if (!trial.note().empty()) read_.notes[read_.trials.size()] = trial.note();
    read_.trials.push_back(std::move(imported));
    read_.lines.push_back(line);
    return absl::OkStatus();
  }

  ImportedLines Finish() && { return std::move(read_); }

 private:
  absl::Status TakeMeasurements(const std::string& text, std::size_t line) {
    v1::ListMeasurementsReply part;
    v1::GetTrialRequest of;
    google::protobuf::Struct keys;
    (void)ParseImportedLine(text, &keys);
    of.set_name(keys.fields().contains("trial")
                    ? keys.fields().at("trial").string_value()
                    : "");
    if (last_.empty() || of.name() != last_) {
      return Bad(line, "these measurements do not stand behind their trial");
    }
    if (!ParseImportedLine(text, &part)) {
      return Bad(line, "a measurement's value is of another type");
    }
    if (last_is_taken_) {
      read_.trials.back().mutable_measurements()->MergeFrom(
          part.measurements());
    }
    return absl::OkStatus();
  }

  absl::Status Bad(std::size_t line, const std::string& cause) const {
    return BadLine(file_, line, cause,
                   "write lines as `frostline study export` does");
  }

  const std::string& file_;
  const v1::StudySpec& spec_;
  const PointCheck check_;
  ImportedLines read_;
  std::string last_;
  bool last_is_taken_ = false;
};

}  // namespace

bool HasResult(v1::TrialState state) {
  return state == v1::TRIAL_STATE_SUCCEEDED ||
         state == v1::TRIAL_STATE_PRUNED ||
         state == v1::TRIAL_STATE_INFEASIBLE || state == v1::TRIAL_STATE_FAILED;
}

absl::Status BadLine(const std::string& file, std::size_t line,
                     const std::string& cause, const std::string& fix) {
  return MakeError(ErrorId::kStudyFileSyntax,
                   absl::StrCat(file, ":", line, ": ", cause), fix);
}

absl::Status CheckObjectives(const v1::ImportedTrial& trial,
                             const v1::StudySpec& spec, const std::string& file,
                             std::size_t line) {
  if (trial.state() != v1::TRIAL_STATE_SUCCEEDED) return absl::OkStatus();
  for (const v1::Objective& objective : spec.objectives()) {
    const auto found = trial.metrics().find(objective.metric());
    const bool is_there = found != trial.metrics().end();
    if (is_there && std::isfinite(found->second)) continue;
    return BadLine(file, line,
                   absl::StrCat("the trial SUCCEEDED ",
                                is_there ? "with no finite " : "without ",
                                objective.metric()),
                   absl::StrCat("give its ", objective.metric(),
                                ", or another state, e.g. FAILED"));
  }
  return absl::OkStatus();
}

v1::ImportedTrial ImportedFrom(const v1::Trial& trial) {
  v1::ImportedTrial imported;
  imported.set_state(trial.state());
  for (const v1::ParameterValue& parameter : trial.parameters()) {
    (*imported.mutable_parameters())[parameter.name()] = parameter.value();
  }
  *imported.mutable_metrics() = trial.metrics();
  if (trial.has_usage()) {
    *imported.mutable_usage() = trial.usage();
    // The folder is the other study's, which may clean it.
    imported.mutable_usage()->clear_model();
  }
  *imported.mutable_labels() = trial.labels();
  if (trial.has_start_time())
    *imported.mutable_start_time() = trial.start_time();
  if (trial.has_end_time()) *imported.mutable_end_time() = trial.end_time();
  imported.set_seed(trial.seed());
  return imported;
}

absl::StatusOr<ImportedLines> ParseImportedLines(const std::string& text,
                                                 const std::string& file,
                                                 const v1::StudySpec& spec) {
  const absl::string_view begin = absl::StripLeadingAsciiWhitespace(text);
  if (begin.empty()) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat(file, " holds no trials"),
                     "export some with `frostline study export`", "FILE");
  }
  if (begin.front() != '{') return ParseImportedTable(text, file, spec);
  LineReader reader(file, spec);
  std::size_t line = 0;
  for (const absl::string_view one : absl::StrSplit(text, '\n')) {
    ++line;
    if (absl::StripAsciiWhitespace(one).empty()) continue;
    RETURN_IF_ERROR(reader.Take(std::string(one), line));
  }
  return std::move(reader).Finish();
}

namespace {

// The limit for labels and note together, as in the coordinator.
constexpr std::size_t kMostNoteBytes = std::size_t{64} << 10;

std::string NoteRequestIdOf(const v1::Study& study, const std::string& trial,
                            const std::string& note) {
  Sha256Sum sum;
  sum.AddField(trial);
  // A study of the same name that was made anew is another one.
  sum.AddField(study.create_time().SerializeAsString());
  sum.AddField(note);
  return sum.Finish();
}

}  // namespace

absl::Status CheckNote(const v1::Trial& trial, const std::string& file,
                       std::size_t line) {
  v1::Trial kept;
  *kept.mutable_labels() = trial.labels();
  kept.set_note(trial.note());
  if (kept.ByteSizeLong() <= kMostNoteBytes) return absl::OkStatus();
  return BadLine(file, line, "the trial's labels and its note are over 64 KiB",
                 "shorten the note");
}

absl::Status WriteNotes(Client& client, const v1::Study& study,
                        const ImportedLines& read, const TakenBatch& batch) {
  const std::size_t end = batch.first + batch.count;
  for (auto note = read.notes.lower_bound(batch.first);
       note != read.notes.end() && note->first < end; ++note) {
    v1::UpdateTrialRequest request;
    const auto place = static_cast<std::int64_t>(note->first - batch.first);
    request.set_name(TrialNameOf(std::string(LastPart(study.name())),
                                 batch.first_number + place));
    request.set_note(note->second);
    request.mutable_update_mask()->add_paths("note");
    request.set_request_id(
        NoteRequestIdOf(study, request.name(), note->second));
    RETURN_IF_ERROR(
        client.Call(&v1::StudyService::Stub::UpdateTrial, request).status());
  }
  return absl::OkStatus();
}

namespace {

constexpr std::size_t kMostNamed = 8;
constexpr std::size_t kMaxImportedName = 100;

// Returns the parameters that only some trials of the study have.
std::set<std::string> Conditional(const v1::SearchSpace& space) {
  std::set<std::string> names;
  for (const v1::ParameterSpace& one : space.parameters()) {
    if (one.has_when()) names.insert(one.name());
  }
  if (space.has_prefix_depth()) {
    for (const v1::Tie& tie : space.ties()) names.insert(tie.name());
    names.insert({"base_rate", "decay"});
  }
  return names;
}

std::string Named(const std::vector<std::string>& names) {
  const auto shown =
      static_cast<std::ptrdiff_t>(std::min(names.size(), kMostNamed));
  std::string text =
      absl::StrJoin(names.begin(), names.begin() + shown, ", ",
                    [](std::string* out, const std::string& name) {
                      out->append(proto::CleanText(name, kMaxImportedName));
                    });
  if (names.size() > kMostNamed) {
    absl::StrAppend(&text, " and ", names.size() - kMostNamed, " more");
  }
  return text;
}

absl::Status BadParameter(const std::string& file, std::size_t line,
                          const std::string& name, const std::string& what,
                          const std::string& fix) {
  return MakeError(
      ErrorId::kValueOutOfSpace,
      absl::StrCat(file, ":", line, ": parameter ",
                   proto::CleanText(name, kMaxImportedName), " ", what),
      fix, absl::StrCat("parameters.", name));
}

}  // namespace

PointCheck::PointCheck(const v1::StudySpec& spec) : spec_(spec) {
  const std::set<std::string> conditional = Conditional(spec.space());
  for (const std::string& name : ParameterNames(spec)) {
    known_.insert(name);
    const bool is_below_depth =
        spec.space().has_prefix_depth() && absl::StartsWith(name, "layer.");
    if (is_below_depth || conditional.contains(name)) continue;
    always_active_.push_back(name);
  }
}

absl::Status PointCheck::Columns(const std::vector<std::string>& columns,
                                 const std::string& file,
                                 std::size_t line) const {
  std::vector<std::string> missing;
  for (const std::string& name : always_active_) {
    if (std::ranges::count(columns, name) == 0) missing.push_back(name);
  }
  if (missing.empty()) return absl::OkStatus();
  std::vector<std::string> wanted;
  for (const v1::Objective& one : spec_.objectives()) {
    wanted.push_back(one.metric());
  }
  wanted.insert(wanted.end(), always_active_.begin(), always_active_.end());
  return BadLine(
      file, line,
      absl::StrCat("the line is no JSON object, and as the header of a table "
                   "it has no column for ",
                   Named(missing)),
      absl::StrCat("begin a table with a row of names, here ", Named(wanted),
                   "; or write lines as `frostline study export` does"));
}

absl::Status PointCheck::Point(const v1::ImportedTrial& trial,
                               const std::string& file,
                               std::size_t line) const {
  for (const auto& [name, value] : trial.parameters()) {
    if (!known_.contains(name)) return absl::OkStatus();
  }
  for (const std::string& name : always_active_) {
    if (trial.parameters().contains(name)) continue;
    return BadParameter(file, line, name, "has no value",
                        "give every active parameter a value of its domain");
  }
  return absl::OkStatus();
}

absl::Status CheckOnce(const v1::Trial& trial, const std::string& file,
                       std::size_t line) {
  std::set<std::string> seen;
  for (const v1::ParameterValue& one : trial.parameters()) {
    if (seen.insert(one.name()).second) continue;
    return BadParameter(file, line, one.name(), "is there twice",
                        "keep the value that the trial ran with");
  }
  return absl::OkStatus();
}

namespace {

constexpr std::size_t kMaxCell = 100;

// Returns whether a column of the export is ignored by an import.
bool IsLeftOut(const std::string& column) {
  static const auto* const kColumns = new std::set<std::string>{
      "number", "origin", "attempt", "worker", "cause"};
  return kColumns->contains(column);
}

// Parses a value as the export writes it: choices in JSON, rates of 0 as
// "frozen".
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
