// SPDX-License-Identifier: Apache-2.0
//
// File: pager.h
#ifndef FROSTLINE_CLI_TERM_PAGER_H_
#define FROSTLINE_CLI_TERM_PAGER_H_

#include <string>

#include "cli/term/terminal.h"

namespace frostline::cli {

// Writes to standard output; what is taller than the terminal goes through
// $FROSTLINE_PAGER, else $PAGER, else `less -FRX` where there is one. An empty
// variable, or Terminal::pages, turns that off. Who leaves the pager early has
// seen enough: that is no failure.
void PrintPaged(const Terminal& terminal, const std::string& text);

// "" for none.
std::string PagerCommand();

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_TERM_PAGER_H_
