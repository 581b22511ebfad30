// SPDX-License-Identifier: Apache-2.0
//
// File: table_history.h
//
// A study made of a recorded table: a sampler proposes, and each trial shows
// what one of its cell's runs showed, drawn by lot. The same setup gives the
// same history.
//
// Where a proposed point was not recorded, the nearest recorded cell that no
// trial of this history has is run instead, and the trial is of that cell: all
// points and values are real, only the sampler's wish is blunted. `random` then
// draws among the recorded cells, none twice.
#ifndef FROSTLINE_TESTS_BENCH_TABLES_TABLE_HISTORY_H_
#define FROSTLINE_TESTS_BENCH_TABLES_TABLE_HISTORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "study/history.h"
#include "study/objective.h"
#include "tests/bench/tables/recorded_table.h"

namespace frostline::bench {

struct HistorySetup {
  std::string sampler = "tpe";
  int workers = 1;  // trials that run at a time; which ends next is drawn
  int trials = 200;
  std::uint64_t seed = 0;
  Purpose purpose = Purpose::kBest;
};

// Trials in the order in which they ended; fewer than asked for where the
// sampler or the table has no more. Throws std::runtime_error when the sampler
// cannot be made or fails.
std::vector<Observation> RecordedTrials(const RecordedTable& table,
                                        const HistorySetup& setup);

// The first `count` of them as one study.
History Beginning(const std::vector<Observation>& trials, int count);

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_TABLES_TABLE_HISTORY_H_
