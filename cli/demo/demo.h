// SPDX-License-Identifier: Apache-2.0
//
// File: demo.h
//
// `synthetic` trains a small network on made-up numbers instead of MiniLM on
// reviews, and needs neither LibTorch nor a model.
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
  // It is empty when there were no trials.
  std::optional<SteadyTime> first_lease;
  SteadyTime end;
};

// Returns the study as it ended. Ctrl-C is CANCELLED; it answers TRAINER_EXITED
// when one of the fleet has ended or nothing has changed for five minutes.
absl::StatusOr<v1::Study> FollowDemo(Client& client, v1::Study study,
                                     LocalFleet& fleet, StopSignals& signals,
                                     const Terminal& terminal,
                                     DemoTimes& times);

// Prints how many trials took how long.
void ShowDemoTimes(const v1::Study& study, const DemoTimes& times);

// Runs recipes/demo/depth.yaml, a short study whose trials share frozen layers,
// of at most `trials` (0: as many as it says), and prints its best trial and
// what sharing saved. It goes on with one that is there.
absl::Status ShowDepths(Client& client, int trials, LocalFleet& fleet,
                        StopSignals& signals, const Terminal& terminal);

// Reads lines of JSON, one trial each. A line that is none is INTERNAL: the
// text is built in.
absl::StatusOr<std::vector<v1::ImportedTrial>> ReadImported(
    const std::string& text);

// Leaves the recorded study `example`, finished, where it is not yet. Call it
// before there are workers, lest one begins a trial of it.
absl::Status LeaveExample(Client& client);

struct DemoOptions {
  int trials = 0;  // 0: as many as its study says
  int workers = 2;
  std::string folder;  // empty: a temporary one
  bool keep = false;   // the temporary folder
  bool synthetic = false;
  bool example = false;  // leaves a recorded study, too
  std::string model;     // a folder; empty: where ./dev setup puts it
};

// Everything it started has ended when it returns. Ctrl-C is CANCELLED.
absl::StatusOr<ExitCode> RunDemo(const DemoOptions& options,
                                 const Terminal& terminal);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_DEMO_DEMO_H_
