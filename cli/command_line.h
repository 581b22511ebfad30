// SPDX-License-Identifier: Apache-2.0
//
// File: command_line.h
#ifndef FROSTLINE_CLI_COMMAND_LINE_H_
#define FROSTLINE_CLI_COMMAND_LINE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/commands/command.h"

namespace frostline::cli {

// Adds --connect, --context, … and --version, and how help reads, for all
// commands that are there. Call it last.
void AddGlobalOptions(CLI::App& app, Invocation& invocation);

// Returns what --help or --version prints, "" when there is a command to run,
// REQUEST_INVALID for a mistake.
absl::StatusOr<std::string> ParseCommandLine(
    CLI::App& app, const std::vector<std::string>& arguments);

struct ProgramCall {
  std::string name;
  std::vector<std::string> arguments;
};

// Takes `serve …` and `worker …`, but for the verbs about workers (`list`). A
// worker without --connect and --join gets the former from the environment.
std::optional<ProgramCall> OtherProgram(
    const std::vector<std::string>& arguments);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMAND_LINE_H_
