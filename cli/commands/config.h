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

// Lets a verb that was parsed, and the terminal, have what the files say of
// `format` and `color`, where no flag and no variable says it. A format that
// the verb has not is passed over, and off a terminal every format is.
void ApplyConfiguration(const CLI::App& app, Session& session);

struct Setting {
  std::string key;
  std::string value;
  // "--connect", "$FROSTLINE_CONNECT", "FILE:3", "context lab", "default".
  std::string origin;
};

// What holds of every key, in the table's order, and who says so. What the
// coordinator is called by comes with it: a context's token shows as its file.
absl::StatusOr<std::vector<Setting>> SettingsOf(const Session& session);

void AddConfigView(CLI::App& noun, Invocation& invocation);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_CONFIG_H_
