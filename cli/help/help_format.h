// SPDX-License-Identifier: Apache-2.0
//
// File: help_format.h
//
// The format of --help: first examples, then what the command does, its own
// flags, the flags of all commands, and last where to read more.
#ifndef FROSTLINE_CLI_HELP_HELP_FORMAT_H_
#define FROSTLINE_CLI_HELP_HELP_FORMAT_H_

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace frostline::cli {

// The examples at the start of each command's help. They are kept in
// examples.txt and built into the program.

extern const char kHelpExamples[];  // examples.txt

// Examples by path of the command, such as "study show". Those of the program
// itself are at "frostline".
using HelpExamples = std::map<std::string, std::vector<std::string>>;

HelpExamples ReadExamples(const std::string& text);

// Returns the built-in examples of a command, or none.
std::vector<std::string> ExamplesOf(const std::string& path);

// Returns the topics of `frostline help TOPIC` besides the commands.
std::vector<std::string> TopicNames();

// Returns the text of a topic, or "" when there is no such topic.
std::string TopicText(const std::string& topic);

// Returns the words in the type of a value: "table" and "json" for
// "{table,json}", "gpu" for "N|gpu".
std::vector<std::string> WordsOfType(const std::string& type);

// Rewrites the parser's name of a type for people: "TEXT:{table,json}" becomes
// "table|json", "N:INT in [1 - 64]" becomes "N from 1 to 64". Other names stay
// as they are.
std::string ShownType(const std::string& type);

inline constexpr char kDocs[] = "docs/reference/cli.md";

// Returns the path of a command, such as "study show", or "frostline" for the
// program itself.
std::string PathOf(const CLI::App& command);

// Gives this help to `app` and all commands below it. Call it after all
// commands are added.
void UseHelpFormat(CLI::App& app);

// Returns an error for the first word that looks like a flag and is not one of
// the command, or OK. The parser itself would report other mistakes first,
// which are only consequences of this one.
absl::Status FindUnknownFlag(const CLI::App& root,
                             const std::vector<std::string>& arguments);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_HELP_HELP_FORMAT_H_
