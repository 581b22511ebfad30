// SPDX-License-Identifier: Apache-2.0
//
// File: command_line.h
#ifndef FROSTLINE_CLI_COMMAND_LINE_H_
#define FROSTLINE_CLI_COMMAND_LINE_H_

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/error.h"
#include "cli/commands/command.h"

namespace frostline::cli {

// Makes every option for whole numbers, of `app` and all commands below it,
// accept only decimal numbers. CLI11 itself reads 010 as eight and -1 as
// 18446744073709551615. Call it after all options are added.
void TakeDecimalAlone(CLI::App& app);

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

// Two first words that scripts use and no help shows:
//
//   frostline __complete -- study sh     what may come next (help/complete.h)
//   frostline __parse -- study show x    whether these words are a command:
//                                        exit code 0, or the mistake and 2
//
// Answers such a script. Returns nothing when the first word is neither of
// them. It never runs the words that follow. REQUIRES: AddGlobalOptions(app, …)
// was called.
std::optional<ExitCode> AnswerScript(CLI::App& app,
                                     const std::vector<std::string>& arguments);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMAND_LINE_H_
