// SPDX-License-Identifier: Apache-2.0
//
// File: model_export.h
#ifndef FROSTLINE_CLI_COMMANDS_MODEL_EXPORT_H_
#define FROSTLINE_CLI_COMMANDS_MODEL_EXPORT_H_

#include <string>

#include "absl/status/statusor.h"
#include "cli/commands/command.h"

namespace frostline::cli {

// What `frostline model export STUDY DIR` does.
absl::StatusOr<ExitCode> ExportBestModel(Session& session,
                                         const std::string& study,
                                         const std::string& folder);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_MODEL_EXPORT_H_
