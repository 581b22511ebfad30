// SPDX-License-Identifier: Apache-2.0
//
// File: hidden_words.h
//
// Two first words that scripts use and no help shows:
//
//   frostline __complete -- study sh     what may come next (help/complete.h)
//   frostline __parse -- study show x    whether these words are a command:
//                                        exit code 0, or the mistake and 2
#ifndef FROSTLINE_CLI_HIDDEN_WORDS_H_
#define FROSTLINE_CLI_HIDDEN_WORDS_H_

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/commands/command.h"

namespace frostline::cli {

// Answers such a script. Returns nothing when the first word is neither of
// them. It never runs the words that follow. REQUIRES: AddGlobalOptions(app, …)
// was called.
std::optional<ExitCode> AnswerScript(CLI::App& app,
                                     const std::vector<std::string>& arguments);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_HIDDEN_WORDS_H_
