// SPDX-License-Identifier: Apache-2.0
//
// File: study_wait.h
//
// What `frostline study wait --for` waits for.
#ifndef FROSTLINE_CLI_COMMANDS_STUDY_WAIT_H_
#define FROSTLINE_CLI_COMMANDS_STUDY_WAIT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "frostline/v1/study.pb.h"

namespace frostline::cli {

struct WaitGoal {
  enum class Kind { kEnded, kTrials, kBest, kRunning };
  Kind kind = Kind::kEnded;
  std::int64_t trials = 0;  // that have ended
  double bound = 0.0;       // of the first objective
  bool at_least = true;     // else at most
};

// Takes "ended", "running", "trials=N", "best>=X" and "best<=X"; else
// REQUEST_INVALID.
absl::StatusOr<WaitGoal> ParseGoal(const std::string& text);

// Answers REQUEST_INVALID for a bound on the wrong side: of what is maximized
// "best<=X" would be met by the worst.
absl::Status CheckGoal(const WaitGoal& goal, const v1::StudySpec& spec);

// `best` are the first objective's values of the best trials.
bool IsMet(const WaitGoal& goal, const v1::Study& study,
           const std::vector<double>& best);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_STUDY_WAIT_H_
