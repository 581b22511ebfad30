// SPDX-License-Identifier: Apache-2.0
//
// File: complete_program.h
#ifndef FROSTLINE_CLI_HELP_COMPLETE_PROGRAM_H_
#define FROSTLINE_CLI_HELP_COMPLETE_PROGRAM_H_

#include <string>
#include <vector>

#include "cli/help/complete_words.h"

namespace frostline::cli {

// Asks the sibling program `name` for its table (`--help=json`), and adds what
// it would take for the last of `words`. Where it is not there nothing is
// added.
void AddProgramFlags(const std::string& name,
                     const std::vector<std::string>& words, NextWord& wanted);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_HELP_COMPLETE_PROGRAM_H_
