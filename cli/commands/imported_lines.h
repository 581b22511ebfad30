// SPDX-License-Identifier: Apache-2.0
//
// File: imported_lines.h
//
// Trials from a file: either JSON lines as `study export` writes them, each
// trial optionally followed by its measurements, or a table in CSV.
#ifndef FROSTLINE_CLI_COMMANDS_IMPORTED_LINES_H_
#define FROSTLINE_CLI_COMMANDS_IMPORTED_LINES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/client/client.h"
#include "frostline/v1/study_service.pb.h"

namespace frostline::cli {

// The trials of a file, with their places and notes.
struct ImportedLines {
  std::vector<v1::ImportedTrial> trials;
  std::vector<std::size_t> lines;  // the line of each trial, from 1
  // The notes, by the index of their trial in `trials`.
  std::map<std::size_t, std::string> notes;
  // How many trials were left out because they have no result: they have not
  // ended or were cancelled.
  std::size_t skipped = 0;
};

// Reads all lines or none. The error names only the first bad line, as
// FILE:LINE, with exit code 100 like a bad study file.
absl::StatusOr<ImportedLines> ParseImportedLines(const std::string& text,
                                                 const std::string& file,
                                                 const v1::StudySpec& spec);

// Converts a trial to the form in which it is imported.
v1::ImportedTrial ImportedFrom(const v1::Trial& trial);

// Returns whether a trial in this state can be imported.
bool HasResult(v1::TrialState state);

absl::Status BadLine(const std::string& file, std::size_t line,
                     const std::string& cause, const std::string& fix);

// Checks that a SUCCEEDED trial has a finite value for every objective.
absl::Status CheckObjectives(const v1::ImportedTrial& trial,
                             const v1::StudySpec& spec, const std::string& file,
                             std::size_t line);

// Notes are written trial by trial after the import, because ImportTrials does
// not carry them.

// Refuses a note that no trial may have, with FILE:LINE, before its trial is
// imported.
absl::Status CheckNote(const v1::Trial& trial, const std::string& file,
                       std::size_t line);

// The trials of one imported batch: where they start in the file and which
// numbers the study gave them.
struct TakenBatch {
  std::size_t first = 0;
  std::size_t count = 0;
  std::int64_t first_number = 0;
};

// Writes the notes of a batch. The request id is a hash of the study, the trial
// and the note, so that repeating the import does not overwrite what somebody
// has written since.
absl::Status WriteNotes(Client& client, const v1::Study& study,
                        const ImportedLines& read, const TakenBatch& batch);

// Checks of an imported trial's point before the coordinator judges it.

// A check of points against the space of one study. The spec must outlive it.
class PointCheck {
 public:
  explicit PointCheck(const v1::StudySpec& spec);

  // Checks the header of a table: it must have a column for each parameter that
  // every trial has a value for. This recognizes files that are not a table of
  // trials.
  absl::Status Columns(const std::vector<std::string>& columns,
                       const std::string& file, std::size_t line) const;

  // Returns VALUE_OUT_OF_SPACE with FILE:LINE when such a parameter has no
  // value. The coordinator judges names that the space does not have.
  absl::Status Point(const v1::ImportedTrial& trial, const std::string& file,
                     std::size_t line) const;

 private:
  const v1::StudySpec& spec_;
  std::set<std::string> known_;
  // The parameters that no condition and no prefix depth makes inactive.
  std::vector<std::string> always_active_;
};

// Returns VALUE_OUT_OF_SPACE when a parameter has two values, because one of
// them would be lost.
absl::Status CheckOnce(const v1::Trial& trial, const std::string& file,
                       std::size_t line);

// Trials as a table in CSV. The column "state" is optional; without it all
// trials succeeded. Each objective has a column, and the other columns are
// parameters. The extra columns of `study export --format csv` are accepted.

struct CsvRow {
  std::size_t line = 0;  // where the row begins, from 1
  std::vector<std::string> cells;
};

// Parses CSV (RFC 4180) and skips blank lines. Returns the error of BadLine()
// for a quote that is not closed.
absl::StatusOr<std::vector<CsvRow>> ParseCsv(const std::string& text,
                                             const std::string& file);

// Does the same as ParseImportedLines() for a table.
absl::StatusOr<ImportedLines> ParseImportedTable(const std::string& text,
                                                 const std::string& file,
                                                 const v1::StudySpec& spec);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_IMPORTED_LINES_H_
