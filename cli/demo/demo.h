// SPDX-License-Identifier: Apache-2.0
//
// File: demo.h
//
// The demo. With `synthetic` it trains a small network on made-up numbers
// instead of MiniLM on reviews, and needs neither LibTorch nor a model.
#ifndef FROSTLINE_CLI_DEMO_DEMO_H_
#define FROSTLINE_CLI_DEMO_DEMO_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/error.h"
#include "cli/client/client.h"
#include "cli/process/child_process.h"
#include "cli/process/local_fleet.h"
#include "cli/term/terminal.h"
#include "frostline/v1/study.pb.h"

namespace frostline::cli {

struct DemoTimes {
  SteadyTime begin;
  // Empty when there were no trials.
  std::optional<SteadyTime> first_lease;
  SteadyTime end;
};

// Shows progress until the study ends, and returns it. Returns CANCELLED on
// Ctrl-C, and TRAINER_EXITED when a program of the fleet has ended or nothing
// has changed for five minutes.
absl::StatusOr<v1::Study> FollowDemo(Client& client, v1::Study study,
                                     LocalFleet& fleet, StopSignals& signals,
                                     const Terminal& terminal,
                                     DemoTimes& times);

// Prints the number of trials and the time they took.
void ShowDemoTimes(const v1::Study& study, const DemoTimes& times);

// Runs recipes/demo/depth.yaml, a short study whose trials share frozen layers,
// and prints its best trial and what sharing saved. It runs at most `trials`
// trials (0: as many as the recipe says). An existing study goes on.
absl::Status ShowDepths(Client& client, int trials, LocalFleet& fleet,
                        StopSignals& signals, const Terminal& terminal);

// Parses JSON lines with one trial each. A bad line is INTERNAL, because the
// text is built in.
absl::StatusOr<std::vector<v1::ImportedTrial>> ReadImported(
    const std::string& text);

// Adds the recorded, finished study `example` unless it exists. Call it before
// there are workers, because one of them could begin a trial of it.
absl::Status LeaveExample(Client& client);

struct DemoOptions {
  int trials = 0;  // 0: as many as its study says
  int workers = 2;
  std::string folder;  // empty: a temporary one
  bool keep = false;   // keep the temporary folder
  bool synthetic = false;
  bool example = false;  // adds a recorded study
  std::string model;     // a folder; empty: from ./dev setup
};

// Runs the demo. Every program it started has ended when it returns. Returns
// CANCELLED on Ctrl-C.
absl::StatusOr<ExitCode> RunDemo(const DemoOptions& options,
                                 const Terminal& terminal);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_DEMO_DEMO_H_
