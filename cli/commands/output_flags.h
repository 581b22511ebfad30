// SPDX-License-Identifier: Apache-2.0
//
// File: output_flags.h
#ifndef FROSTLINE_CLI_COMMANDS_OUTPUT_FLAGS_H_
#define FROSTLINE_CLI_COMMANDS_OUTPUT_FLAGS_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/view/output.h"

namespace frostline::cli {

// Add `--format` and `--json`, which is `--format json`. `output` outlives the
// verb: it is a member of the verb's arguments.
void AddOneFormats(CLI::App* verb,
                   Output& output);  // table json jsonl yaml name
// The same, and wide, csv, `--columns`, `--sort`.
void AddListFormats(CLI::App* verb, Output& output);

// `--wide`, which is `--format wide`, beside them where it has always been.
void AddWide(CLI::App* verb, Output& output, const std::string& help);

// Whether a command line asks for JSON, however wrong it is otherwise: then an
// error is JSON too.
bool AsksForJson(const std::vector<std::string>& arguments);
// Standard error has nothing but errors from then on (client/notes.h).
void LeaveNotesOut();

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_OUTPUT_FLAGS_H_
