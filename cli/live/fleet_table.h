// SPDX-License-Identifier: Apache-2.0
//
// File: fleet_table.h
//
// Who works on what: a row for each slot of each worker. Pure functions.
#ifndef FROSTLINE_CLI_LIVE_FLEET_TABLE_H_
#define FROSTLINE_CLI_LIVE_FLEET_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "frostline/v1/admin_service.pb.h"
#include "frostline/v1/study.pb.h"
#include "frostline/v1/trial.pb.h"
#include "frostline/v1/worker.pb.h"

namespace frostline::cli {

// What the coordinator answered.
struct FleetAnswers {
  std::string coordinator = {};  // its address
  WallMicros time = 0;
  v1::ServerInfo info = {};
  std::vector<v1::Study> studies = {};
  std::vector<v1::Worker> workers = {};
  std::vector<v1::Trial> running = {};
  // The first of best_trials of each study that has one.
  std::vector<v1::Trial> best = {};
};

struct FleetRow {
  std::string worker = {};
  int slot = 0;
  std::string state = {};  // "idle", or why no trial comes: "DRAINING"
  // Empty where nothing runs; then all below it says nothing.
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
  std::string best = {};  // of its study: "accuracy 0.93"
};

struct FleetCounts {
  std::int64_t studies = 0, active = 0;
  std::int64_t running = 0, queued = 0, ended = 0;
  std::int64_t outside = 0;  // of those that ended: no budget counts them
  std::int64_t live = 0, draining = 0, quarantined = 0;
  std::int64_t slots = 0, free = 0;  // of live workers
};

struct FleetTable {
  FleetCounts counts = {};
  std::vector<FleetRow> rows = {};  // by worker and slot
};

// A trial has the slot that its progress names; one that names none, or one
// that is taken, gets the next that is free.
FleetTable TableOf(const FleetAnswers& answers);

// `frostline top --once --format json`, as docs/reference/cli.md has it.
std::string FleetJson(const FleetAnswers& answers);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_LIVE_FLEET_TABLE_H_
