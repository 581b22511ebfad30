// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/tables/plan_truth.h"

#include <algorithm>
#include <cmath>

#include "study/objective.h"

namespace frostline::bench {
namespace {

constexpr double kEighty = 1.2815515655446004;  // deviations, two-sided

}  // namespace

std::optional<TrueScore> TruthAt(const TableStudy& study, const Point& point) {
  const RecordedCell* const cell = study.table.Find(point);
  if (cell == nullptr || cell->Succeeded() == 0) return std::nullopt;
  const double lacking =
      std::max(0.0, 1.0 / cell->Succeeded() - 1.0 / kSeedsOfTruth);
  return TrueScore{cell->Mean(), DeviationOfRun(*cell, study.truth.noise) *
                                     std::sqrt(lacking)};
}

importance::PlanOptions PlanOptionsFor(const TableStudy& study) {
  importance::PlanOptions options;
  options.evaluate = OptionsFor("default", study.setup.seed);
  options.evaluation_rows = study.table.outcomes;
  return options;
}

bool IsImpossible(const RecordedTable& table,
                  const importance::Interval& score) {
  const MetricRange range = PresumedRange(table.objective.metric);
  for (const double end :
       {score.value, score.lo80, score.hi80, score.lo95, score.hi95}) {
    if (std::isnan(end) || end < range.lo || end > range.hi) return true;
  }
  return false;
}

bool Holds80(const importance::Interval& score, double truth, double error) {
  const double below = score.value - score.lo80;
  const double above = score.hi80 - score.value;
  return truth >= score.value - std::hypot(below, kEighty * error) &&
         truth <= score.value + std::hypot(above, kEighty * error);
}

}  // namespace frostline::bench
