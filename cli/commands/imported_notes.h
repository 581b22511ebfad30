// SPDX-License-Identifier: Apache-2.0
//
// File: imported_notes.h
//
// ImportTrials has no notes: they are written behind it, trial by trial.
#ifndef FROSTLINE_CLI_COMMANDS_IMPORTED_NOTES_H_
#define FROSTLINE_CLI_COMMANDS_IMPORTED_NOTES_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "cli/client/client.h"
#include "cli/commands/imported_lines.h"

namespace frostline::cli {

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

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_IMPORTED_NOTES_H_
