// SPDX-License-Identifier: Apache-2.0
//
// File: table_judge.h
//
// What a study of a recorded table says, held against the table: importance,
// plan and frontier by the public headers of importance/.
#ifndef FROSTLINE_TESTS_BENCH_TABLES_TABLE_JUDGE_H_
#define FROSTLINE_TESTS_BENCH_TABLES_TABLE_JUDGE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "importance/plan/study_plan.h"
#include "study/history.h"
#include "tests/bench/tables/recorded_table.h"
#include "tests/bench/tables/table_truth.h"

namespace frostline {

// Modules by their place in the space, one bit each.
struct PlanSays {
  std::uint64_t freeze = 0;  // frozen is better, or costs nothing that counts
  std::uint64_t train = 0;   // training is worth it
};

// Some module that one of them freezes and the other trains.
bool Contradict(const PlanSays& a, const PlanSays& b);

// Figures of one study; a key is "mae" or, with what comes after the place and
// the size, "mae" and "default".
struct JudgedFigure {
  std::string key;
  std::string end;
  double value = 0.0;
};

struct JudgedStudy {
  std::vector<JudgedFigure> figures;
  double best = 0.0;  // true value of the trial that looks best; NaN: none
  bool planned = false;
  PlanSays says;
};

struct JudgeSetup {
  bool shares = true;
  bool plan = true;
  std::vector<std::string> rivals = {"fanova-optuna", "mdi"};
  std::uint64_t seed = 0;
};

// A study that importance or plan refuses counts under "refused".
JudgedStudy Judge(const RecordedTable& table, const TableTruth& truth,
                  const History& history, const JudgeSetup& setup);

}  // namespace frostline

#endif  // FROSTLINE_TESTS_BENCH_TABLES_TABLE_JUDGE_H_
