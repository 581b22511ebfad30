// SPDX-License-Identifier: Apache-2.0
//
// File: imported_lines.h
//
// Trials from a file: JSON lines as `study export` writes them, with their
// measurements where those stand behind a trial, or a table in CSV.
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

// ImportTrials has no notes: they are written behind it, trial by trial.

// Refuses at FILE:LINE a note that no trial may have, before its trial is in.
absl::Status CheckNote(const v1::Trial& trial, const std::string& file,
                       std::size_t line);

// Where a batch of an import went: its first trial in the file, and how the
// study numbers it.
struct TakenBatch {
  std::size_t first = 0;
  std::size_t count = 0;
  std::int64_t first_number = 0;
};

// A request id is a sum of the study, the trial and the note, so that the same
// import again does not undo what somebody has written since.
absl::Status WriteNotes(Client& client, const v1::Study& study,
                        const ImportedLines& read, const TakenBatch& batch);

// What can be said of an imported trial's point before a coordinator judges it.

// Of one study; the spec outlives it.
class PointCheck {
 public:
  explicit PointCheck(const v1::StudySpec& spec);

  // A row of names that a file begins with must have a column for each
  // parameter that every trial has a value of: what is no table of trials at
  // all has none.
  absl::Status Columns(const std::vector<std::string>& columns,
                       const std::string& file, std::size_t line) const;

  // Answers VALUE_OUT_OF_SPACE at FILE:LINE where such a parameter has no
  // value. Names that the space does not have are the coordinator's to tell.
  absl::Status Point(const v1::ImportedTrial& trial, const std::string& file,
                     std::size_t line) const;

 private:
  const v1::StudySpec& spec_;
  std::set<std::string> known_;
  // Those that no condition and no prefix depth makes inactive.
  std::vector<std::string> always_active_;
};

// Answers VALUE_OUT_OF_SPACE where a parameter has two values, of which one
// would be lost.
absl::Status CheckOnce(const v1::Trial& trial, const std::string& file,
                       std::size_t line);

// A table of trials in CSV: a column "state", or none where all succeeded, one
// for each objective, and the others are parameters. The columns that
// `study export --format csv` writes besides are known.

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

#endif  // FROSTLINE_CLI_COMMANDS_IMPORTED_LINES_H_
