// SPDX-License-Identifier: Apache-2.0
//
// File: config.h
#ifndef FROSTLINE_CLI_COMMANDS_CONFIG_H_
#define FROSTLINE_CLI_COMMANDS_CONFIG_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/commands/command.h"

namespace frostline::cli {

// Applies the `format` and `color` of the configuration files to the parsed
// verb and the terminal, unless a flag or a variable sets them. It ignores a
// format that the verb does not have, and every format when the output is not a
// terminal.
void ApplyConfiguration(const CLI::App& app, Session& session);

// The value of one key and where it comes from.
struct Setting {
  std::string key;
  std::string value;
  // Where the value comes from: "--connect", "$FROSTLINE_CONNECT", "FILE:3",
  // "context lab", "default".
  std::string origin;
};

// Returns the value of every key and where it comes from, in the order of the
// table. This includes the settings for calls to the coordinator; for a
// context's token it shows the file, not the token.
absl::StatusOr<std::vector<Setting>> SettingsOf(const Session& session);

void AddConfigView(CLI::App& noun, Invocation& invocation);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_CONFIG_H_
