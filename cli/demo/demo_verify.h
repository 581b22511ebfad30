// SPDX-License-Identifier: Apache-2.0
//
// File: demo_verify.h
#ifndef FROSTLINE_CLI_DEMO_DEMO_VERIFY_H_
#define FROSTLINE_CLI_DEMO_DEMO_VERIFY_H_

#include <string>

#include "absl/status/status.h"
#include "cli/client/client.h"
#include "cli/process/local_fleet.h"
#include "cli/process/stop_signals.h"
#include "cli/term/terminal.h"

namespace frostline::cli {

// Writes to standard output, and shows again what an earlier demo of this
// folder verified. Ctrl-C is CANCELLED; it answers TRAINER_EXITED when one of
// the fleet has ended.
absl::Status VerifyDemo(Client& client, const std::string& study,
                        LocalFleet& fleet, StopSignals& signals,
                        const Terminal& terminal);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_DEMO_DEMO_VERIFY_H_
