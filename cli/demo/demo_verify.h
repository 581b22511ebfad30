// SPDX-License-Identifier: Apache-2.0
//
// File: demo_verify.h
//
// The demo's plan is run beside what it has to beat.
#ifndef FROSTLINE_CLI_DEMO_DEMO_VERIFY_H_
#define FROSTLINE_CLI_DEMO_DEMO_VERIFY_H_

#include <string>

#include "absl/status/status.h"
#include "cli/client/client.h"
#include "cli/demo/demo_fleet.h"
#include "cli/process/stop_signals.h"
#include "cli/term/terminal.h"

namespace frostline::cli {

// To standard output. What an earlier demo of this folder verified is shown
// again. CANCELLED after Ctrl-C, TRAINER_EXITED when one of the fleet has
// ended.
absl::Status VerifyDemo(Client& client, const std::string& study,
                        DemoFleet& fleet, StopSignals& signals,
                        const Terminal& terminal);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_DEMO_DEMO_VERIFY_H_
