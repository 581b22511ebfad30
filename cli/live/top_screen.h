// SPDX-License-Identifier: Apache-2.0
//
// File: top_screen.h
//
// The screen of `frostline top`, as a function of the coordinator's answers,
// the typed keys and the size of the terminal.
#ifndef FROSTLINE_CLI_LIVE_TOP_SCREEN_H_
#define FROSTLINE_CLI_LIVE_TOP_SCREEN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cli/live/full_screen.h"
#include "frostline/v1/admin_service.pb.h"
#include "frostline/v1/study.pb.h"
#include "frostline/v1/trial.pb.h"
#include "frostline/v1/worker.pb.h"

namespace frostline::cli {

// A table of which worker does what, with a row for each slot of each worker.
// All functions are pure.

// The answers of the coordinator that the table is made from.
struct FleetAnswers {
  std::string coordinator = {};  // the coordinator's address
  WallMicros time = 0;
  v1::ServerInfo info = {};
  std::vector<v1::Study> studies = {};
  std::vector<v1::Worker> workers = {};
  std::vector<v1::Trial> running = {};
  // The first of best_trials, for each study that has one.
  std::vector<v1::Trial> best = {};
};

// One slot of one worker.
struct FleetRow {
  std::string worker = {};
  int slot = 0;
  std::string state = {};  // "idle", or why it gets no trial: "DRAINING"
  // Empty when nothing runs; then the fields below mean nothing.
  std::string trial = {};  // "studies/imdb/trials/17"
  std::string study = {};
  std::int64_t number = 0;
  std::string phase = {};
  double epoch = 0.0;
  double total_epochs = 0.0;
  std::int64_t step = 0;
  std::int64_t total_steps = 0;
  double steps_per_second = 0.0;
  std::optional<double> seconds_left = {};
  std::string best = {};  // the best of its study: "accuracy 0.93"
};

struct FleetCounts {
  std::int64_t studies = 0, active = 0;
  std::int64_t running = 0, queued = 0, ended = 0;
  std::int64_t outside = 0;  // ended trials that no budget counts
  std::int64_t live = 0, draining = 0, quarantined = 0;
  std::int64_t slots = 0, free = 0;  // of live workers
};

// All slots, and the counts above them.
struct FleetTable {
  FleetCounts counts = {};
  std::vector<FleetRow> rows = {};  // by worker and slot
};

// Makes the table. A trial stands at the slot that its progress names. If it
// names none or one that is taken, it gets the next free slot.
FleetTable TableOf(const FleetAnswers& answers);

// Returns the output of `frostline top --once --format json`
// (docs/reference/cli.md).
std::string FleetJson(const FleetAnswers& answers);

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
