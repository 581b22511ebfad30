// SPDX-License-Identifier: Apache-2.0
//
// File: command_line.h
//
// From words to an Invocation; usage errors suggest what was meant.
#ifndef FROSTLINE_CLI_COMMAND_LINE_H_
#define FROSTLINE_CLI_COMMAND_LINE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/commands/command.h"

namespace frostline::cli {

// --connect and --no-color, for all commands that are there: call it last, lest
// they inherit the examples.
void AddGlobalOptions(CLI::App& app, Invocation& invocation);

// What --help or --version prints; empty when there is a command to run.
// REQUEST_INVALID for a mistake.
absl::StatusOr<std::string> ParseCommandLine(
    CLI::App& app, const std::vector<std::string>& arguments);

struct ProgramCall {
  std::string name;
  std::vector<std::string> arguments;
};

// `serve …` and `worker …`, with everything that follows. A worker that is not
// given --connect gets it from the environment.
std::optional<ProgramCall> OtherProgram(
    const std::vector<std::string>& arguments);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMAND_LINE_H_
