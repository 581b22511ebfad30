// SPDX-License-Identifier: Apache-2.0
//
// File: told.h
//
// A history sorted by trial and attempt: what the workers know.
#ifndef FROSTLINE_TESTS_BENCH_LOAD_TOLD_H_
#define FROSTLINE_TESTS_BENCH_LOAD_TOLD_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/bench/load/history.h"

namespace frostline::bench {

struct ToldAttempt {
  std::set<std::string> requests;  // that were answered with this attempt
  // The grant happened between these two.
  SteadyTime asked{0};
  SteadyTime granted{0};
  Duration ttl{0};
  // No other attempt may be granted before.
  SteadyTime good_until{0};
  // The worker has said that it is done with it, or that it is another now.
  bool over = false;
  // The outcome that was sent, if any, and all verdicts on it.
  std::string sent;
  double value = 0.0;
  std::set<std::string> verdicts;
  std::map<std::int64_t, double> sent_steps;
  std::map<std::int64_t, double> acknowledged;
};

struct ToldTrial {
  std::map<std::int64_t, ToldAttempt> attempts;
};

using Told = std::map<std::string, ToldTrial>;

// Trials whose names start with `prefix`. What contradicts itself without a
// look at the store goes to `wrong`.
Told Gather(const History& history, const std::string& prefix,
            std::vector<std::string>* wrong);

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_LOAD_TOLD_H_
