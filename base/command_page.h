// SPDX-License-Identifier: Apache-2.0
//
// File: command_page.h
//
// What a program offers, as one JSON object, so that man pages and completions
// are made of the very tables that the program parses with:
//
//   {"name": "frostline-worker", "summary": …, "footer": "", "words": [],
//    "flags": [{"name": "--slots", "value": "N|gpu", "help": …,
//               "default": "1", "variable": "", "repeats": false}],
//    "commands": []}
#ifndef FROSTLINE_BASE_COMMAND_PAGE_H_
#define FROSTLINE_BASE_COMMAND_PAGE_H_

#include <string>
#include <vector>

#include "base/flags.h"

namespace frostline {

struct CommandPage {
  std::string name;
  std::string version;  // of the program; empty for its commands
  std::string summary;
  std::string footer;
  std::vector<Flag> words;  // by position: "STUDY", or "[TOPIC]" if optional
  std::vector<Flag> flags;
  std::vector<CommandPage> commands;
};

// Includes --version and --help, which every program has.
CommandPage PageOf(const FlagTable& program);

// Ends with a newline.
std::string CommandJson(const CommandPage& page);

}  // namespace frostline

#endif  // FROSTLINE_BASE_COMMAND_PAGE_H_
