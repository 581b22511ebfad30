// SPDX-License-Identifier: Apache-2.0
//
// File: checker.h
//
// Whether what the coordinator has kept agrees with what it told its workers.
// The rules are per trial and linear in the events:
//   - an accepted Finish is its trial's outcome, and the only one;
//   - an acknowledged measurement is there once, with its value, and nothing is
//     there that nobody sent;
//   - each grant has an attempt of its own, attempts rise, and none is granted
//     while an earlier lease is still good;
//   - a request sent again is answered as before;
//   - a request without an answer happened once or not at all;
//   - an ended study has exactly its budget of ended trials, and its best value
//     is the best that workers sent.
#ifndef FROSTLINE_TESTS_BENCH_LOAD_CHECKER_H_
#define FROSTLINE_TESTS_BENCH_LOAD_CHECKER_H_

#include <map>
#include <string>
#include <vector>

#include "frostline/v1/study.pb.h"
#include "frostline/v1/trial.pb.h"
#include "tests/bench/load/history.h"

namespace frostline::bench {

struct StoredTrial {
  v1::Trial trial;  // the FULL view
  std::map<std::int64_t, std::vector<v1::Measurement>> measurements;
};

struct StoredStudy {
  v1::Study study;
  std::vector<StoredTrial> trials;
};

// What is wrong, a sentence each; empty when nothing is. Events of other
// studies are passed over.
std::vector<std::string> CheckHistory(const History& history,
                                      const StoredStudy& stored);

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_LOAD_CHECKER_H_
