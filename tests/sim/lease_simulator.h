// SPDX-License-Identifier: Apache-2.0
//
// File: lease_simulator.h
//
// A fleet in a seed: one coordinator built on the real trial_machine, a store
// that forgets what was not committed, workers that crash, stall and wake up
// late, and a network that drops, delays, doubles and reorders. After every
// event the promises of docs/adr/0004 are checked against what workers were
// told. One seed is one history, the same on every machine.
//
// A Mutant breaks one promise on purpose: the simulator is worth what it finds.
#ifndef FROSTLINE_TESTS_SIM_LEASE_SIMULATOR_H_
#define FROSTLINE_TESTS_SIM_LEASE_SIMULATOR_H_

#include <cstdint>
#include <string>

namespace frostline::test {

enum class Mutant {
  kNone,
  kNoFence,            // the store writes whatever the guard says
  kReplyBeforeCommit,  // answers are sent before the group is on disk
  kAcceptTwice,        // a result of an ended trial is taken again
  kNoSecret,           // any secret will do
  kSameAttempt,        // a grant does not raise the attempt number
  kForgetAcquire,      // a repeated Acquire gets another trial
  kNoGrace,            // leases do not outlive a restart
  kDropSuperseded,     // the second result is thrown away
  kDropLate,           // a late result is thrown away though it is the only one
  kNeverExpire,        // a silent worker keeps its trial
  kWallClock,          // leases are judged by the wall clock
  kLossFails,          // a lost worker fails its trial
};

struct SimulationResult {
  std::string broken;  // the promise, when one was broken; else empty
  int events = 0;
  int losses = 0;  // leases that ran out
  int late = 0;    // results of lost attempts that counted
  int superseded = 0;
  int restarts = 0;  // of the coordinator
};

SimulationResult SimulateLeases(std::uint64_t seed, Mutant mutant);

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_SIM_LEASE_SIMULATOR_H_
