// SPDX-License-Identifier: Apache-2.0
//
// File: trial.h
//
// A lost worker ends an attempt, not the trial.
//
//   QUEUED -> RUNNING -> SUCCEEDED | PRUNED | INFEASIBLE | FAILED | CANCELLED
//      ^---------'  attempt LOST, PREEMPTED, FAILED (retryable), RELEASED
#ifndef FROSTLINE_STUDY_TRIAL_H_
#define FROSTLINE_STUDY_TRIAL_H_

#include <cstdint>
#include <map>
#include <string>

namespace frostline {

// The numbers are stored: never change one.
enum class TrialState {
  kQueued = 1,
  kRunning = 2,
  kSucceeded = 3,
  kPruned = 4,
  kInfeasible = 5,  // cannot be trained, e.g. its loss is NaN
  kFailed = 6,      // attempts are used up
  kCancelled = 7,
};

inline bool IsTerminal(TrialState state) {
  return state >= TrialState::kSucceeded;
}

// These numbers are stored, too.
enum class AttemptState {
  kRunning = 1,
  kCompleted = 2,   // its outcome is the trial's
  kSuperseded = 3,  // another attempt counts
  kLost = 4,        // no heartbeat for a TTL
  kPreempted = 5,   // handed back on a signal
  kFailed = 6,
  kReleased = 7,  // handed back unrun
  kCancelled = 8,
};

// Decides how often a trial is tried again.
enum class FailureClass {
  kNone = 0,
  kTrial = 1,           // the user's code or the point
  kOutOfMemory = 2,     // counts as the trial's
  kInfrastructure = 3,  // node, network, preemption
};

inline constexpr int kMaxTrialFaults = 3;
inline constexpr int kMaxInfrastructureFaults = 20;

// Values are finite, except in intermediate measurements.
using Metrics = std::map<std::string, double>;

struct Measurement {
  std::int64_t step = 0;
  Metrics metrics;
  double elapsed_s = 0.0;  // since the attempt started
};

// Returns the wire's word: "SUCCEEDED".
const char* NameOf(TrialState state);
const char* NameOf(AttemptState state);
const char* NameOf(FailureClass failure);

}  // namespace frostline

#endif  // FROSTLINE_STUDY_TRIAL_H_
