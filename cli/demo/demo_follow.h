// SPDX-License-Identifier: Apache-2.0
//
// File: demo_follow.h
#ifndef FROSTLINE_CLI_DEMO_DEMO_FOLLOW_H_
#define FROSTLINE_CLI_DEMO_DEMO_FOLLOW_H_

#include <optional>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "cli/client/client.h"
#include "cli/process/local_fleet.h"
#include "cli/process/stop_signals.h"
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

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_DEMO_DEMO_FOLLOW_H_
