// SPDX-License-Identifier: Apache-2.0
#include "study/trial.h"

namespace frostline {

const char* NameOf(TrialState state) {
  switch (state) {
    case TrialState::kQueued:
      return "QUEUED";
    case TrialState::kRunning:
      return "RUNNING";
    case TrialState::kSucceeded:
      return "SUCCEEDED";
    case TrialState::kPruned:
      return "PRUNED";
    case TrialState::kInfeasible:
      return "INFEASIBLE";
    case TrialState::kFailed:
      return "FAILED";
    case TrialState::kCancelled:
      return "CANCELLED";
  }
  return "UNKNOWN";
}

const char* NameOf(AttemptState state) {
  switch (state) {
    case AttemptState::kRunning:
      return "RUNNING";
    case AttemptState::kCompleted:
      return "COMPLETED";
    case AttemptState::kSuperseded:
      return "SUPERSEDED";
    case AttemptState::kLost:
      return "LOST";
    case AttemptState::kPreempted:
      return "PREEMPTED";
    case AttemptState::kFailed:
      return "FAILED";
    case AttemptState::kReleased:
      return "RELEASED";
    case AttemptState::kCancelled:
      return "CANCELLED";
  }
  return "UNKNOWN";
}

const char* NameOf(FailureClass failure) {
  switch (failure) {
    case FailureClass::kNone:
      return "NONE";
    case FailureClass::kTrial:
      return "TRIAL";
    case FailureClass::kOutOfMemory:
      return "OUT_OF_MEMORY";
    case FailureClass::kInfrastructure:
      return "INFRASTRUCTURE";
  }
  return "UNKNOWN";
}

}  // namespace frostline
