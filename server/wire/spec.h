// SPDX-License-Identifier: Apache-2.0
//
// File: spec.h
#ifndef FROSTLINE_SERVER_WIRE_SPEC_H_
#define FROSTLINE_SERVER_WIRE_SPEC_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "storage/rows.h"

namespace frostline::server {

struct RetryRules {
  int max_trial_faults = kMaxTrialFaults;
  int max_infrastructure_faults = kMaxInfrastructureFaults;
  // A result of a lost attempt counts while no newer one has delivered.
  bool accept_late_result = true;
};

// Defaults are filled in.
struct LeaseRules {
  Duration ttl{};
  Duration heartbeat_interval{};
  RetryRules retry;
};

struct RepeatRule {
  int times = 0;  // runs of a leader in all; 0: no rule
  int leaders = 0;
  std::int64_t after = 0;  // trials before the first repeat
};

// A worker tells with it how its attempt ended.
struct Result {
  enum class Kind { kSucceeded, kPruned, kInfeasible, kFailed, kCancelled };
  Kind kind = Kind::kSucceeded;
  Metrics metrics;
  std::vector<double> values;  // one per objective, or none
  FailureClass failure = FailureClass::kNone;
  std::string cause;
  std::string usage;       // serialised
  std::string checkpoint;  // serialised; empty: none
  std::string outcome;     // the message, kept when superseded
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_SPEC_H_
