// SPDX-License-Identifier: Apache-2.0
//
// File: complete_live.h
#ifndef FROSTLINE_CLI_HELP_COMPLETE_LIVE_H_
#define FROSTLINE_CLI_HELP_COMPLETE_LIVE_H_

#include "cli/help/complete_words.h"

namespace frostline::cli {

// Adds what is wanted of a coordinator or of this user's contexts. Where nobody
// answers, nothing is added and nothing is said. It may wait for long: its
// caller ends the program in time.
void AddLive(NextWord& wanted);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_HELP_COMPLETE_LIVE_H_
