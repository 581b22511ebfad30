// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "importance/plan/study_plan.h"
#include "tests/bench/tables/plan_truth.h"
#include "tests/bench/tables/table_judge.h"

namespace frostline::bench {
namespace {

PlanSays SaidBy(const importance::StudyPlan& plan) {
  PlanSays says;
  for (std::size_t m = 0; m < plan.modules.size(); ++m) {
    const std::uint64_t bit = std::uint64_t{1} << m;
    if (plan.modules[m].advice == importance::Advice::kFreeze)
      says.freeze |= bit;
    if (plan.modules[m].advice == importance::Advice::kTrain) says.train |= bit;
  }
  return says;
}

// What freezing a parameter's modules truly costs against its best rate, the
// others as planned; nothing where a cell was not recorded.
std::optional<double> CostOfFreezing(const TableStudy& study, Point point,
                                     std::size_t axis) {
  std::vector<double> scores;
  const std::size_t levels = static_cast<std::size_t>(
      CountValues(study.table.space.parameters()[axis].domain));
  for (std::size_t level = 0; level < levels; ++level) {
    point[axis] = static_cast<double>(level);
    const auto truth = TruthAt(study, point);
    if (!truth) return std::nullopt;
    scores.push_back(study.table.Score(truth->value));
  }
  return *std::max_element(scores.begin() + 1, scores.end()) - scores[0];
}

// One piece of advice for each parameter that sets modules' rates.
void JudgeAdvice(const TableStudy& study, const importance::StudyPlan& plan,
                 double tolerance, JudgedStudy& out) {
  const auto& bindings = study.table.space.modules();
  std::set<int> judged;
  for (std::size_t m = 0; m < bindings.size(); ++m) {
    const auto axis = bindings[m].parameter;
    if (!axis || !judged.insert(*axis).second) continue;
    const importance::Advice advice = plan.modules[m].advice;
    const bool said = advice == importance::Advice::kFreeze ||
                      advice == importance::Advice::kTrain;
    out.Add("advice", said);
    const auto cost =
        CostOfFreezing(study, plan.point, static_cast<std::size_t>(*axis));
    if (!said || !cost) continue;
    out.Add("advice_right",
            (*cost <= tolerance) == (advice == importance::Advice::kFreeze));
  }
}

}  // namespace

void JudgePlan(const TableStudy& study, JudgedStudy& out) {
  const RecordedTable& table = study.table;
  const importance::PlanOptions options = PlanOptionsFor(study);
  const auto plan = importance::MakePlan(table.space, {table.objective},
                                         study.history, options);
  out.Add("refused", plan.ok() ? 0.0 : 1.0, "plan");
  if (!plan.ok()) return;
  out.planned = true;
  out.says = SaidBy(*plan);
  const importance::Interval& predicted = plan->predicted_score;
  out.Add("plan_impossible", IsImpossible(table, predicted) ||
                                 IsImpossible(table, plan->one_run) ||
                                 IsImpossible(table, plan->best_seen_score));
  JudgeAdvice(study, *plan, options.tolerance, out);
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

}  // namespace frostline::bench
