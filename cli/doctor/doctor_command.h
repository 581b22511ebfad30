// SPDX-License-Identifier: Apache-2.0
//
// File: doctor_command.h
#ifndef FROSTLINE_CLI_DOCTOR_DOCTOR_COMMAND_H_
#define FROSTLINE_CLI_DOCTOR_DOCTOR_COMMAND_H_

#include <CLI/CLI.hpp>

#include "cli/commands/command.h"

namespace frostline::cli {

void AddDoctorCommand(CLI::App& app, Invocation& invocation);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_DOCTOR_DOCTOR_COMMAND_H_
