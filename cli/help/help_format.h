// SPDX-License-Identifier: Apache-2.0
//
// File: help_format.h
//
// How --help reads: examples first, then what the command is, its own flags,
// those of all commands, and last where more is written.
#ifndef FROSTLINE_CLI_HELP_HELP_FORMAT_H_
#define FROSTLINE_CLI_HELP_HELP_FORMAT_H_

#include <CLI/CLI.hpp>
#include <string>

namespace frostline::cli {

inline constexpr char kDocs[] = "docs/reference/cli.md";

// "study show" of that command; "frostline" of the program itself.
std::string PathOf(const CLI::App& command);

// Gives `app` and all commands below it this help. Call it when all are there.
void UseHelpFormat(CLI::App& app);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_HELP_HELP_FORMAT_H_
