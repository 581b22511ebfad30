// SPDX-License-Identifier: Apache-2.0
//
// File: study_wait.h
//
// The goals of `frostline study wait --for`.
#ifndef FROSTLINE_CLI_COMMANDS_STUDY_WAIT_H_
#define FROSTLINE_CLI_COMMANDS_STUDY_WAIT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "frostline/v1/study.pb.h"

namespace frostline::cli {

// The condition that ends the wait.
struct WaitGoal {
  enum class Kind { kEnded, kTrials, kBest, kRunning };
  Kind kind = Kind::kEnded;
  std::int64_t trials = 0;  // trials that have ended
  double bound = 0.0;       // a value of the first objective
  bool at_least = true;     // false: at most
};

// Parses "ended", "running", "trials=N", "best>=X" or "best<=X". Returns
// REQUEST_INVALID for anything else.
absl::StatusOr<WaitGoal> ParseGoal(const std::string& text);

// Returns REQUEST_INVALID for a bound in the wrong direction: when an objective
// is maximized, even the worst trial meets "best<=X".
absl::Status CheckGoal(const WaitGoal& goal, const v1::StudySpec& spec);

// Returns whether the goal is met. `best` holds the first objective's values of
// the best trials.
bool IsMet(const WaitGoal& goal, const v1::Study& study,
           const std::vector<double>& best);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_STUDY_WAIT_H_
