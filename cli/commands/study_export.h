// SPDX-License-Identifier: Apache-2.0
//
// File: study_export.h
#ifndef FROSTLINE_CLI_COMMANDS_STUDY_EXPORT_H_
#define FROSTLINE_CLI_COMMANDS_STUDY_EXPORT_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "cli/client/client.h"

namespace frostline::cli {

// Streams the exported trials to `take`, piece by piece. Ends with the first
// error of `take` or of the stream; the output is then incomplete.
absl::Status StreamTrials(
    Client& client, const v1::ExportTrialsRequest& request,
    const std::function<absl::Status(const std::string&)>& take);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_STUDY_EXPORT_H_
