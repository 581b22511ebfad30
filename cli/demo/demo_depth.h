// SPDX-License-Identifier: Apache-2.0
//
// File: demo_depth.h
#ifndef FROSTLINE_CLI_DEMO_DEMO_DEPTH_H_
#define FROSTLINE_CLI_DEMO_DEMO_DEPTH_H_

#include "absl/status/status.h"
#include "cli/client/client.h"
#include "cli/process/local_fleet.h"
#include "cli/process/stop_signals.h"
#include "cli/term/terminal.h"

namespace frostline::cli {

// Runs recipes/demo/depth.yaml, a short study whose trials share frozen layers,
// of at most `trials` (0: as many as it says), and prints its best trial and
// what sharing saved. It goes on with one that is there.
absl::Status ShowDepths(Client& client, int trials, LocalFleet& fleet,
                        StopSignals& signals, const Terminal& terminal);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_DEMO_DEMO_DEPTH_H_
