// SPDX-License-Identifier: Apache-2.0
//
// File: plan_truth.h
//
// What plan and frontier are both held against.
#ifndef FROSTLINE_TESTS_BENCH_TABLES_PLAN_TRUTH_H_
#define FROSTLINE_TESTS_BENCH_TABLES_PLAN_TRUTH_H_

#include <optional>

#include "importance/plan/study_plan.h"
#include "tests/bench/tables/table_judge.h"

namespace frostline::bench {

// A plan's score is meant as the mean of so many runs.
inline constexpr double kSeedsOfTruth = 5.0;

struct TrueScore {
  double value = 0.0;  // mean over the table's seeds
  double error = 0.0;  // of that mean, beyond that of a mean of kSeedsOfTruth
};

// Nothing where the table has no run that succeeded.
std::optional<TrueScore> TruthAt(const TableStudy& study, const Point& point);

// As a user asks who says nothing of a tolerance.
importance::PlanOptions PlanOptionsFor(const TableStudy& study);

// An end that the metric cannot have, or no number.
bool IsImpossible(const RecordedTable& table,
                  const importance::Interval& score);

// Whether the 80 % interval holds `truth`, were `error` part of it.
bool Holds80(const importance::Interval& score, double truth, double error);

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_TABLES_PLAN_TRUTH_H_
