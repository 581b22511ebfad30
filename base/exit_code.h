// SPDX-License-Identifier: Apache-2.0
//
// File: exit_code.h
//
// Scripts and schedulers rely on these codes; they never change.
#ifndef FROSTLINE_BASE_EXIT_CODE_H_
#define FROSTLINE_BASE_EXIT_CODE_H_

#include "absl/status/status.h"

namespace frostline {

enum ExitCode : int {
  kExitOk = 0,
  kExitFailure = 1,
  kExitUsage = 2,
  kExitNotFound = 3,
  kExitAuth = 4,
  kExitConflict = 5,
  kExitTimedOut = 6,
  kExitUnreachable = 7,    // the coordinator; trying again may help
  kExitNoResult = 8,       // the study ended without a finished trial
  kExitRequeue = 75,       // preempted: run me again
  kExitInvalidFile = 100,  // a study or data file has mistakes
  kExitInterrupted = 130,  // Ctrl-C
};

ExitCode ExitCodeOf(const absl::Status& status);

}  // namespace frostline

#endif  // FROSTLINE_BASE_EXIT_CODE_H_
