// SPDX-License-Identifier: Apache-2.0
//
// File: demo_report.h
#ifndef FROSTLINE_CLI_DEMO_DEMO_REPORT_H_
#define FROSTLINE_CLI_DEMO_DEMO_REPORT_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/client/client.h"
#include "cli/process/child_process.h"
#include "cli/process/local_fleet.h"
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

// Prints best trial, importance and plan, and returns the plan. Returns nullopt
// when there are too few trials, or trials too equal, for a plan. Lines are cut
// at `width` columns (0: never).
absl::StatusOr<std::optional<v1::FreezePlan>> ReportDemo(Client& client,
                                                         const v1::Study& study,
                                                         int width);

// The id of the study in next.yaml.
inline constexpr char kNextStudy[] = "demo-next";

// Writes next.yaml into `folder`: a study that searches what the plan leaves
// open.
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

// Runs the plan and prints the result. In the folder of an earlier demo, it
// prints that demo's result again. Returns CANCELLED on Ctrl-C, and
// TRAINER_EXITED when a program of the fleet has ended.
absl::Status VerifyDemo(Client& client, const std::string& study,
                        LocalFleet& fleet, StopSignals& signals,
                        const Terminal& terminal);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_DEMO_DEMO_REPORT_H_
