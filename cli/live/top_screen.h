// SPDX-License-Identifier: Apache-2.0
//
// File: top_screen.h
//
// The screen of `frostline top`, as a function of the coordinator's answers,
// the typed keys and the size of the terminal.
#ifndef FROSTLINE_CLI_LIVE_TOP_SCREEN_H_
#define FROSTLINE_CLI_LIVE_TOP_SCREEN_H_

#include <string>
#include <vector>

#include "cli/live/fleet_table.h"
#include "cli/live/full_screen.h"

namespace frostline::cli {

enum class TopOrder { kWorker, kStudy, kTimeLeft };

// What the user has chosen with keys so far.
struct TopState {
  TopOrder order = TopOrder::kWorker;
  std::string filter = {};  // part of a worker, study or phase
  int selected = 0;         // among the shown rows
  std::string trial = {};   // shows its details; empty: the table
  bool is_typing = false;   // keys go to the filter
  bool is_paused = false;
  bool is_done = false;
};

// Returns the rows that pass the filter, in the chosen order.
std::vector<FleetRow> RowsShown(const FleetTable& table, const TopState& state);

// Returns the state after one key.
TopState AfterKey(TopState state, const Key& key, const FleetTable& table);

// Returns exactly `height` lines, none wider than the terminal. `trouble` says
// why the data is old, or is empty when it is not.
std::vector<std::string> TopLines(const FleetAnswers& answers,
                                  const TopState& state, ScreenSize size,
                                  const std::string& trouble);

// Returns all rows as text, for `--once`. A width of 0 cuts nothing.
std::string TopText(const FleetAnswers& answers, int width);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_LIVE_TOP_SCREEN_H_
