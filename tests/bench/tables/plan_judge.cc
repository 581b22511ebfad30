// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/study_plan.h"
#include "tests/bench/tables/plan_truth.h"
#include "tests/bench/tables/table_judge.h"

namespace frostline {
namespace {

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

}  // namespace

void JudgePlan(const TableStudy& study, JudgedStudy& out) {
  const RecordedTable& table = study.table;
  const auto plan = MakePlan(table.space, {table.objective}, study.history,
                             PlanOptionsFor(study));
  out.Add("refused", plan.ok() ? 0.0 : 1.0, "plan");
  if (!plan.ok()) return;
  out.planned = true;
  out.says = SaidBy(*plan);
  const Interval& predicted = plan->predicted_score;
  out.Add("plan_impossible", IsImpossible(table, predicted));
  const auto truth = TruthAt(study, plan->point);
  if (!truth) return;
  const double score = table.Score(truth->value);
  out.Add("plan_regret", table.Score(study.truth.best->Mean()) - score);
  out.Add("plan_not_worse", score >= table.Score(out.best));
  out.Add("plan_cover80", Holds80(predicted, truth->value, 0.0));
  out.Add("plan_cover80_seeds", Holds80(predicted, truth->value, truth->error));
  out.Add("plan_promise", table.Score(predicted.value) - score);
  out.Add("plan_width80", predicted.hi80 - predicted.lo80);
}

}  // namespace frostline
