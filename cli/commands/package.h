// SPDX-License-Identifier: Apache-2.0
//
// File: package.h
//
// What the Python package does for the command line: the Hub, Optuna and the
// Model Context Protocol have their clients in Python. This finds the package's
// program on this machine, runs it with the coordinator of this command line,
// and says what to install where it is not there.
#ifndef FROSTLINE_CLI_COMMANDS_PACKAGE_H_
#define FROSTLINE_CLI_COMMANDS_PACKAGE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/error.h"
#include "cli/commands/command.h"

namespace frostline::cli {

// A console script of the package, and the module behind it.
struct PackageProgram {
  const char* name;    // frostline-hub
  const char* module;  // frostline.hub
  const char* needs;   // what it needs beside the package: huggingface_hub
  const char* does;    // for an error: "which fetches by name"
};

inline constexpr PackageProgram kHubProgram = {"frostline-hub", "frostline.hub",
                                               "huggingface_hub",
                                               "which fetches by name"};
inline constexpr PackageProgram kOptunaProgram = {
    "frostline-optuna", "frostline.history", "optuna",
    "which reads and writes Optuna's studies"};

// Runs the program with these words, in this order: by the Python that
// FROSTLINE_PYTHON names, by its name on the PATH, by python3. Returns its exit
// code; TRAINER_FILE when none of the three has it, with `otherwise` behind the
// fix. `variables` ("NAME=value") come before those of this process.
absl::StatusOr<ExitCode> RunOfPackage(const PackageProgram& program,
                                      const std::vector<std::string>& words,
                                      std::vector<std::string> variables = {},
                                      const std::string& otherwise = "");

// Returns the variables that lead the package to the chosen coordinator.
// REQUEST_INVALID when a client's certificate is needed there, which the
// package does not show.
absl::StatusOr<std::vector<std::string>> VariablesOfTarget(Session& session);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_PACKAGE_H_
