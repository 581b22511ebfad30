// SPDX-License-Identifier: Apache-2.0
//
// File: trial_import.h
//
// Sends trials that ended elsewhere, in batches that fit a request. A batch's
// request id is a sum of its content, of its place and of the study, so that
// the same file again, also after a broken run, imports nothing twice while the
// coordinator remembers ids (a day at least).
#ifndef FROSTLINE_CLI_COMMANDS_TRIAL_IMPORT_H_
#define FROSTLINE_CLI_COMMANDS_TRIAL_IMPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/client/client.h"
#include "cli/commands/imported_lines.h"

namespace frostline::cli {

// Answers REQUEST_INVALID for a trial that fits no request, with its line.
absl::StatusOr<std::vector<v1::ImportTrialsRequest>> ImportBatches(
    const v1::Study& study, const ImportedLines& read, const std::string& file);

struct ImportDone {
  std::int64_t imported = 0;
  std::int64_t already = 0;  // by an earlier call with the same content
};

// A refusal names FILE:LINE. Where there are several batches the coordinator
// judges the points of all of them before the first is imported.
absl::StatusOr<ImportDone> ImportAll(Client& client, const v1::Study& study,
                                     const ImportedLines& read,
                                     const std::string& file);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_TRIAL_IMPORT_H_
