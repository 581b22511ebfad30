// SPDX-License-Identifier: Apache-2.0
//
// File: trial.h
//
// The life of a trial. Loss is no result: when a worker is lost the attempt
// ends, and the trial is queued again.
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
  kInfeasible = 5,  // the point cannot be trained, e.g. the loss became NaN
  kFailed = 6,      // attempts are used up; the cause is kept
  kCancelled = 7,
};

inline bool IsTerminal(TrialState state) {
  return state >= TrialState::kSucceeded;
}

// How one lease of a trial ended. The numbers are stored.
enum class AttemptState {
  kRunning = 1,
  kCompleted = 2,   // its outcome is the trial's
  kSuperseded = 3,  // it finished, but another attempt's outcome counts
  kLost = 4,        // no heartbeat for a TTL
  kPreempted = 5,   // handed back on a signal, with or without a checkpoint
  kFailed = 6,
  kReleased = 7,  // handed back unrun
  kCancelled = 8,
};

// Who is to blame for a failure decides how often the trial is tried again.
enum class FailureClass {
  kNone = 0,
  kTrial = 1,           // the user's code or the point: 3 attempts
  kOutOfMemory = 2,     // counts as the trial's
  kInfrastructure = 3,  // node, network, preemption: 20 attempts
};

inline constexpr int kMaxTrialFaults = 3;
inline constexpr int kMaxInfrastructureFaults = 20;

// Names and values of one step or of a final result. Finite values only, except
// in intermediate measurements, where NaN and the infinities are kept as such.
using Metrics = std::map<std::string, double>;

struct Measurement {
  std::int64_t step = 0;
  Metrics metrics;
  double elapsed_s = 0.0;  // since the attempt started
};

// "SUCCEEDED"; the names of the wire and of the command line.
const char* NameOf(TrialState state);
const char* NameOf(AttemptState state);
const char* NameOf(FailureClass failure);

}  // namespace frostline

#endif  // FROSTLINE_STUDY_TRIAL_H_
