// SPDX-License-Identifier: Apache-2.0
//
// File: imported_lines.h
//
// Trials from a file: JSON lines as `study export` writes them, with their
// measurements where those stand behind a trial, or a table in CSV.
#ifndef FROSTLINE_CLI_COMMANDS_IMPORTED_LINES_H_
#define FROSTLINE_CLI_COMMANDS_IMPORTED_LINES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "frostline/v1/study_service.pb.h"

namespace frostline::cli {

struct ImportedLines {
  std::vector<v1::ImportedTrial> trials;
  std::vector<std::size_t> lines;  // where each stands, from 1
  // By the place in `trials`, of those that have one.
  std::map<std::size_t, std::string> notes;
  // Trials that have not ended, or were cancelled: they have no result.
  std::size_t skipped = 0;
};

// Reads all or nothing. A bad line is named by FILE:LINE, and the first alone:
// an error as of a study file, with exit code 100.
absl::StatusOr<ImportedLines> ParseImportedLines(const std::string& text,
                                                 const std::string& file,
                                                 const v1::StudySpec& spec);

// A trial as it is imported elsewhere.
v1::ImportedTrial ImportedFrom(const v1::Trial& trial);

// Says whether a trial of this state can be imported.
bool HasResult(v1::TrialState state);

absl::Status BadLine(const std::string& file, std::size_t line,
                     const std::string& cause, const std::string& fix);

// Of a trial that ended SUCCEEDED every objective must be there, finite.
absl::Status CheckObjectives(const v1::ImportedTrial& trial,
                             const v1::StudySpec& spec, const std::string& file,
                             std::size_t line);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_IMPORTED_LINES_H_
