// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "importance/plan/study_plan.h"
#include "study/metric_range.h"
#include "tests/bench/tables/table_judge.h"

namespace frostline {
namespace {

constexpr double kEighty = 1.2815515655446004;  // deviations, two-sided

// Which modules the plan says to freeze, or to train, for a reason of theirs.
PlanSays SaidBy(const StudyPlan& plan) {
  PlanSays says;
  for (std::size_t m = 0; m < plan.modules.size(); ++m) {
    const PlannedModule& module = plan.modules[m];
    const Interval& cost = module.cost_of_freezing;
    const std::uint64_t bit = std::uint64_t{1} << m;
    if (module.freeze && cost.hi95 <= 0.0) says.freeze |= bit;
    if (!module.freeze && cost.lo95 > 0.0) says.train |= bit;
  }
  return says;
}

bool IsImpossible(const RecordedTable& table, const Interval& score) {
  const MetricRange range = PresumedRange(table.objective.metric);
  for (const double end :
       {score.value, score.lo80, score.hi80, score.lo95, score.hi95}) {
    if (std::isnan(end) || end < range.lo || end > range.hi) return true;
  }
  return false;
}

// `error`: of the truth itself, which is a mean over few seeds.
bool Holds80(const Interval& score, double truth, double error) {
  const double below = score.value - score.lo80;
  const double above = score.hi80 - score.value;
  return truth >= score.value - std::hypot(below, kEighty * error) &&
         truth <= score.value + std::hypot(above, kEighty * error);
}

}  // namespace

void JudgePlan(const TableStudy& study, JudgedStudy& out) {
  const RecordedTable& table = study.table;
  PlanOptions options;
  options.evaluate = OptionsFor("default", study.setup.seed);
  const auto plan =
      MakePlan(table.space, {table.objective}, study.history, options);
  out.Add("refused", plan.ok() ? 0.0 : 1.0, "plan");
  if (!plan.ok()) return;
  out.planned = true;
  out.says = SaidBy(*plan);
  const Interval& predicted = plan->predicted_score;
  out.Add("plan_impossible", IsImpossible(table, predicted));
  const RecordedCell* const cell = table.Find(plan->point);
  if (cell == nullptr || cell->Succeeded() == 0) return;
  const double truth = cell->Mean();
  const double error = ErrorOfMean(*cell, study.truth.noise);
  out.Add("plan_regret",
          table.Score(study.truth.best->Mean()) - table.Score(truth));
  out.Add("plan_not_worse", table.Score(truth) >= table.Score(out.best));
  out.Add("plan_cover80", Holds80(predicted, truth, 0.0));
  out.Add("plan_cover80_seeds", Holds80(predicted, truth, error));
  out.Add("plan_promise", table.Score(predicted.value) - table.Score(truth));
  out.Add("plan_width80", predicted.hi80 - predicted.lo80);
}

}  // namespace frostline
