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

// Adds the options that all commands share (--connect, --context, --version, …)
// and the format of the help. Call it after all commands are added.
void AddGlobalOptions(CLI::App& app, Invocation& invocation);

// Parses the command line. Returns the text for --help or --version, "" when
// there is a command to run, and REQUEST_INVALID for a mistake.
absl::StatusOr<std::string> ParseCommandLine(
    CLI::App& app, const std::vector<std::string>& arguments);

// A sibling program to run, and its arguments.
struct ProgramCall {
  std::string name;
  std::vector<std::string> arguments;
};

// Returns the other program that the words stand for: the coordinator for
// `serve …`, the worker for `worker …`. Verbs about workers (`list`) stay here.
// A worker without --connect and --join gets --connect from the environment.
std::optional<ProgramCall> OtherProgram(
    const std::vector<std::string>& arguments);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMAND_LINE_H_
