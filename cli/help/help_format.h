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
#include <vector>

#include "absl/status/status.h"

namespace frostline::cli {

// What a value may be: "table" and "json" of "{table,json}", "gpu" of "N|gpu".
std::vector<std::string> WordsOfType(const std::string& type);

// The parser's own words for people: "table|json" of "TEXT:{table,json}", "N
// from 1 to 64" of "N:INT in [1 - 64]"; others stay as they are.
std::string ShownType(const std::string& type);

inline constexpr char kDocs[] = "docs/reference/cli.md";

// "study show" of that command; "frostline" of the program itself.
std::string PathOf(const CLI::App& command);

// Gives `app` and all commands below it this help. Call it when all are there.
void UseHelpFormat(CLI::App& app);

// Names the first word, in the order typed, that looks like a flag and is none
// of the command that was reached: the parser says it last, after all that the
// word made wrong. OK where there is none.
absl::Status FindUnknownFlag(const CLI::App& root,
                             const std::vector<std::string>& arguments);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_HELP_HELP_FORMAT_H_
