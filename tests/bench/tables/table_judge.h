// SPDX-License-Identifier: Apache-2.0
//
// File: table_judge.h
//
// What a study of a recorded table says, held against the table: importance,
// plan and frontier by the public headers of importance/.
#ifndef FROSTLINE_TESTS_BENCH_TABLES_TABLE_JUDGE_H_
#define FROSTLINE_TESTS_BENCH_TABLES_TABLE_JUDGE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "importance/evaluator.h"
#include "importance/plan/study_plan.h"
#include "study/history.h"
#include "tests/bench/tables/recorded_table.h"
#include "tests/bench/tables/table_truth.h"

namespace frostline::bench {

// What a plan advises, by the modules' place in the space, one bit each.
struct PlanSays {
  std::uint64_t freeze = 0;
  std::uint64_t train = 0;
};

// Some module that one of them freezes and the other trains.
bool Contradict(const PlanSays& a, const PlanSays& b);

// A figure of one study: "mae" or, with what comes after the place and the
// size, "mae" and "default".
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

  void Add(const std::string& key, double value, const std::string& end = "") {
    figures.push_back({key, end, value});
  }
};

struct JudgeSetup {
  bool shares = true;
  bool plan = true;
  std::vector<std::string> rivals = {"fanova-optuna", "mdi"};
  std::uint64_t seed = 0;
};

// What is judged; keeps references.
struct TableStudy {
  const RecordedTable& table;
  const TableTruth& truth;
  const History& history;
  const JudgeSetup& setup;
};

// A study that importance or plan refuses counts under "refused".
JudgedStudy Judge(const TableStudy& study);

// The parts of Judge. They add to `out`, whose `best` must be known.
void JudgeShares(const TableStudy& study, const std::string& evaluator,
                 JudgedStudy& out);
void JudgePlan(const TableStudy& study, JudgedStudy& out);
void JudgeFrontier(const TableStudy& study, JudgedStudy& out);

// "default", or the name of another. One thread, since studies are judged side
// by side.
importance::EvaluateOptions OptionsFor(const std::string& evaluator,
                                       std::uint64_t seed);

// What plan and frontier are both held against.

// A plan's score is meant as the mean of so many runs.
inline constexpr double kSeedsOfTruth = 5.0;

struct TrueScore {
  double value = 0.0;  // mean over the table's seeds
  double error = 0.0;  // of that mean, beyond that of a mean of kSeedsOfTruth
};

// Nothing where the table has no run that succeeded.
std::optional<TrueScore> TruthAt(const TableStudy& study, const Point& point);

// What a point truly lacks of the best one, both as SteadyScores has them; NaN:
// the table has gaps.
double SteadyRegret(const TableStudy& study, const Point& point);

// As a user asks who says nothing of a tolerance.
importance::PlanOptions PlanOptionsFor(const TableStudy& study);

// An end that the metric cannot have, or no number.
bool IsImpossible(const RecordedTable& table,
                  const importance::Interval& score);

// Whether the 80 % interval holds `truth`, were `error` part of it.
bool Holds80(const importance::Interval& score, double truth, double error);

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_TABLES_TABLE_JUDGE_H_
