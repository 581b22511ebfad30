// SPDX-License-Identifier: Apache-2.0
//
// File: trial_log.h
//
// The verb `frostline trial log`.
#ifndef FROSTLINE_CLI_COMMANDS_TRIAL_LOG_H_
#define FROSTLINE_CLI_COMMANDS_TRIAL_LOG_H_

#include <cstdint>
#include <string>

#include "cli/commands/command.h"
#include "cli/commands/trial.h"

namespace frostline::cli {

struct TrialLogArgs {
  TrialWords trial;
  std::int64_t attempt = 0;  // 0: the newest
  bool follow = false;
  bool json = false;
};

// Prints the log to standard output and remarks about it to standard error.
absl::StatusOr<ExitCode> ShowLog(Session& session, const TrialLogArgs& args);

// Prints new lines of the log until the trial, or the requested attempt, has
// ended. If the coordinator is away, it tries again for ten minutes.
absl::StatusOr<ExitCode> FollowLog(Session& session, const TrialLogArgs& args);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_TRIAL_LOG_H_
