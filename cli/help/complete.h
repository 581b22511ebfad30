// SPDX-License-Identifier: Apache-2.0
//
// File: complete.h
//
// `frostline __complete -- WORDS…`: what a shell's completion asks for. No
// person types it, so no help names it. It prints lines:
//
//   study<TAB>Create, watch and steer studies
//   :files            the shell's own completion of names of files is wanted
//   :folders          of folders
#ifndef FROSTLINE_CLI_HELP_COMPLETE_H_
#define FROSTLINE_CLI_HELP_COMPLETE_H_

#include <CLI/CLI.hpp>
#include <ostream>
#include <string>
#include <vector>

namespace frostline::cli {

// Prints what fits the last of `words`. `program` is the one that takes the
// words in our place (`frostline worker` is frostline-worker), or empty. The
// running program ends with code 0 when this has taken 150 ms, with what was
// printed by then.
void Complete(const CLI::App& root, const std::vector<std::string>& words,
              const std::string& program, std::ostream& out);

// The script for "bash", "zsh" or "fish".
std::string CompletionScript(const std::string& shell);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_HELP_COMPLETE_H_
