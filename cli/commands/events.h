// SPDX-License-Identifier: Apache-2.0
//
// File: events.h
#ifndef FROSTLINE_CLI_COMMANDS_EVENTS_H_
#define FROSTLINE_CLI_COMMANDS_EVENTS_H_

#include "absl/status/statusor.h"
#include "cli/commands/command.h"

namespace frostline::cli {

// Prints what changes from now on in any study, one that appears later too, and
// ends with an error alone. `json`: a StudyEvent on each line.
absl::StatusOr<ExitCode> WatchAllStudies(Session& session, bool json);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_EVENTS_H_
