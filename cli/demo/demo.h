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
#include "cli/term/terminal.h"
#include "frostline/v1/importance.pb.h"
#include "frostline/v1/study.pb.h"

namespace frostline::cli {

// Returns the file of the next study. It freezes the modules that the plan
// freezes with certainty and searches the others. If none is certain, it
// freezes those of the plan's point, to test whether they may stay frozen. If
// that is every module, it still searches the one whose freezing costs most.
// REQUIRES: `recipe` has a line `id:`, its levels after `&rates`, and `space:`
// last, which fixes pooler and head at 1e-3.
std::string NextStudyFile(const std::string& recipe, const std::string& id,
                          const v1::FreezePlan& plan);

// These print what a study has found and return its plan, or nullopt when there
// are too few trials, or trials too equal, for one. Lines are cut at `width`
// columns (0: never).

// Of the synthetic study: best trial, importance and plan.
absl::StatusOr<std::optional<v1::FreezePlan>> ReportRates(
    Client& client, const v1::Study& study, int width);

// Of the real one: how much must be trained, with a picture, frontier.svg in
// `folder`.
absl::StatusOr<std::optional<v1::FreezePlan>> ReportDepths(
    Client& client, const v1::Study& study, const std::string& folder,
    int width);

// The id of the study in next.yaml.
inline constexpr char kNextStudy[] = "demo-next";

// Writes next.yaml into `folder`: a study that searches a rate for each module
// that the plan trains.
absl::Status WriteNext(const v1::FreezePlan& plan, const std::string& folder);

// The commands that a user can type after the demo has ended. Until then the
// demo's own coordinator holds the folder.

struct WaysOn {
  std::string folder;           // the demo's folder
  bool has_importance = false;  // trials enough for importance
  bool has_next = false;        // next.yaml
  bool has_example = false;     // the recorded study
};

// Returns the commands as text. `command` is how frostline is typed from here.
std::string WaysOnText(const WaysOn& ways, const std::string& command);

// Prints the commands.
void ShowWaysOn(const WaysOn& ways);

// Runs the plan with so many seeds and prints the result. In the folder of an
// earlier demo, it prints that demo's result again. Returns CANCELLED on
// Ctrl-C, and TRAINER_EXITED when a program of the fleet has ended.
absl::Status VerifyDemo(Client& client, const std::string& study, int seeds,
                        LocalFleet& fleet, StopSignals& signals,
                        const Terminal& terminal);

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
