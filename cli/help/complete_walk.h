// SPDX-License-Identifier: Apache-2.0
//
// File: complete_walk.h
//
// Follows words that were typed so far down the table of commands. Unlike the
// parser it minds no mistakes: who asks for a completion is not done.
#ifndef FROSTLINE_CLI_HELP_COMPLETE_WALK_H_
#define FROSTLINE_CLI_HELP_COMPLETE_WALK_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/context/target.h"

namespace frostline::cli {

struct Walk {
  const CLI::App* at = nullptr;          // the command that was reached
  std::vector<std::string> positionals;  // its words, but for the last
  const CLI::Option* awaits = nullptr;   // the last word is this flag's value
  bool only_words = false;               // behind "--"
  std::string begun;
  std::string before;  // "--format=" of "--format=js"
  Wish wish;
};

// bash cuts "--flag=value" and "HOST:PORT" into three words; they are taken as
// one.
Walk WalkAlong(const CLI::App& root, const std::vector<std::string>& words);

// Those of the command and of the program, each name once.
std::vector<const CLI::Option*> FlagsAt(const CLI::App& root,
                                        const CLI::App& at);

// What the next word would be; null: there is none.
const CLI::Option* PositionalAt(const Walk& walk);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_HELP_COMPLETE_WALK_H_
