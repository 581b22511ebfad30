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

// What the plan surely freezes is frozen, and the other modules are searched.
// Where nothing is sure, what the plan's point freezes is frozen to see whether
// it may be; where that is every module, the one whose freezing costs most is
// searched all the same. REQUIRES: `recipe` has a line `id:`, its levels behind
// `&rates`, and `space:` last, which fixes pooler and head at 1e-3.
std::string NextStudyFile(const std::string& recipe, const std::string& id,
                          const v1::FreezePlan& plan);

// Answers nullopt where trials are too few or too equal for a plan. Lines are
// cut at `width` columns (0: never).
absl::StatusOr<std::optional<v1::FreezePlan>> ReportDemo(Client& client,
                                                         const v1::Study& study,
                                                         int width);

// The study of next.yaml.
inline constexpr char kNextStudy[] = "demo-next";

// Writes next.yaml, which searches what the plan leaves, into `folder`.
absl::Status WriteNext(const v1::FreezePlan& plan, const std::string& folder);

// What can be typed when the demo has ended: its own coordinator holds the
// folder until then.

struct WaysOn {
  std::string folder;           // of the demo
  bool has_importance = false;  // trials enough for one
  bool has_next = false;        // next.yaml
  bool has_example = false;     // the recorded study
};

// `command` is frostline, as it is typed from here.
std::string WaysOnText(const WaysOn& ways, const std::string& command);

// Prints them.
void ShowWaysOn(const WaysOn& ways);

// Writes to standard output, and shows again what an earlier demo of this
// folder verified. Ctrl-C is CANCELLED; it answers TRAINER_EXITED when one of
// the fleet has ended.
absl::Status VerifyDemo(Client& client, const std::string& study,
                        LocalFleet& fleet, StopSignals& signals,
                        const Terminal& terminal);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_DEMO_DEMO_REPORT_H_
