// SPDX-License-Identifier: Apache-2.0
//
// File: trial_files.h
//
// Imports trials that ended elsewhere, in batches that fit a request. The
// request id of a batch is a hash of its content, its place and the study. So
// the same file can be sent again, also after a broken run, and nothing is
// imported twice while the coordinator remembers ids (at least a day).
#ifndef FROSTLINE_CLI_COMMANDS_TRIAL_FILES_H_
#define FROSTLINE_CLI_COMMANDS_TRIAL_FILES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/client/client.h"
#include "cli/commands/imported_lines.h"

namespace frostline::cli {

// Splits the trials into requests. Returns REQUEST_INVALID, with the line, for
// a trial that is too large for a request.
absl::StatusOr<std::vector<v1::ImportTrialsRequest>> ImportBatches(
    const v1::Study& study, const ImportedLines& read, const std::string& file);

struct ImportDone {
  std::int64_t imported = 0;
  std::int64_t already = 0;  // imported by an earlier, equal call
};

// Imports all trials. An error names FILE:LINE. If there are several batches,
// the coordinator checks the points of all of them before the first is
// imported.
absl::StatusOr<ImportDone> ImportAll(Client& client, const v1::Study& study,
                                     const ImportedLines& read,
                                     const std::string& file);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_TRIAL_FILES_H_
