// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/imported_lines.h"

#include <cmath>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "cli/commands/imported_notes.h"
#include "cli/commands/imported_point.h"
#include "cli/commands/imported_table.h"
#include "google/protobuf/util/json_util.h"

namespace frostline::cli {
namespace {

// Fields that a later version adds are no mistake.
template <typename Message>
bool ParseImportedLine(const std::string& line, Message* message) {
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  return google::protobuf::util::JsonStringToMessage(line, message, options)
      .ok();
}

// {"trial": "studies/imdb/trials/3", "measurements": […]}.
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

}  // namespace frostline::cli
