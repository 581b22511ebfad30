// SPDX-License-Identifier: Apache-2.0
//
// File: top_screen.h
//
// What `frostline top` shows is a function of what the coordinator answered, of
// what was typed and of the size of the terminal.
#ifndef FROSTLINE_CLI_LIVE_TOP_SCREEN_H_
#define FROSTLINE_CLI_LIVE_TOP_SCREEN_H_

#include <string>
#include <vector>

#include "cli/live/fleet_table.h"
#include "cli/live/full_screen.h"

namespace frostline::cli {

enum class TopOrder { kWorker, kStudy, kTimeLeft };

// What was typed so far.
struct TopState {
  TopOrder order = TopOrder::kWorker;
  std::string filter = {};  // a part of a worker, study or phase
  int selected = 0;         // among the rows that are shown
  std::string trial = {};   // whose details are shown; empty: the table
  bool is_typing = false;   // keys go to the filter
  bool is_paused = false;
  bool is_done = false;
};

// Rows that the filter leaves, in the order that was chosen.
std::vector<FleetRow> RowsShown(const FleetTable& table, const TopState& state);

// The state after one key.
TopState AfterKey(TopState state, const Key& key, const FleetTable& table);

// Exactly `height` lines, none wider than the terminal. `trouble` says why what
// is shown is old; empty: it is not.
std::vector<std::string> TopLines(const FleetAnswers& answers,
                                  const TopState& state, ScreenSize size,
                                  const std::string& trouble);

// All rows once, for `--once`; a width of 0 cuts nothing.
std::string TopText(const FleetAnswers& answers, int width);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_LIVE_TOP_SCREEN_H_
