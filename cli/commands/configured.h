// SPDX-License-Identifier: Apache-2.0
//
// File: configured.h
#ifndef FROSTLINE_CLI_COMMANDS_CONFIGURED_H_
#define FROSTLINE_CLI_COMMANDS_CONFIGURED_H_

#include <CLI/CLI.hpp>

#include "cli/commands/command.h"

namespace frostline::cli {

// Lets a verb that was parsed, and the terminal, have what the files say of
// `format` and `color`, where no flag and no variable says it. A format that
// the verb has not is passed over, and off a terminal every format is.
void ApplyConfiguration(const CLI::App& app, Session& session);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_CONFIGURED_H_
