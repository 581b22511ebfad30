// SPDX-License-Identifier: Apache-2.0
//
// File: command_line.h
//
// From words to an Invocation; mistakes become usage errors that suggest what
// was probably meant.
#ifndef FROSTLINE_CLI_COMMAND_LINE_H_
#define FROSTLINE_CLI_COMMAND_LINE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/commands/command.h"

namespace frostline::cli {

// --connect and --no-color, which every command takes. Call it when all
// commands are there: they would inherit the examples.
void AddGlobalOptions(CLI::App& app, Invocation& invocation);

// What --help or --version asked to be printed; empty when there is a command
// to run. REQUEST_INVALID for a mistake.
absl::StatusOr<std::string> ParseCommandLine(
    CLI::App& app, const std::vector<std::string>& arguments);

struct ProgramCall {
  std::string name;
  std::vector<std::string> arguments;
};

// `serve …` and `worker …`: frostline-coordinator and frostline-worker, with
// everything that follows. A worker gets --connect from the environment when it
// is not given one.
std::optional<ProgramCall> OtherProgram(
    const std::vector<std::string>& arguments);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMAND_LINE_H_
