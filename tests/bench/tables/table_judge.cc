// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/tables/table_judge.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "importance/plan/frontier.h"
#include "importance/plan/study_plan.h"
#include "study/objective.h"

namespace frostline::bench {
namespace {

constexpr double kLeastCovered = 0.01;
constexpr double kNinetyFive = 1.959963984540054;  // deviations, two-sided

// Who finds nothing says that all are alike.
std::vector<double> InParts(const std::vector<double>& shares) {
  double sum = 0.0;
  for (const double share : shares) sum += share;
  std::vector<double> parts;
  for (const double share : shares) {
    parts.push_back(sum > 0.0 ? share / sum
                              : 1.0 / static_cast<double>(shares.size()));
  }
  return parts;
}

double ShareError(const TableTruth& truth, const importance::Report& report) {
  std::vector<double> found;
  for (const importance::ParameterImportance& one : report.parameters) {
    found.push_back(one.main.value);
  }
  found = InParts(found);
  const std::vector<double> right = InParts(truth.main);
  double sum = 0.0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    sum += std::abs(found[i] - right[i]) / static_cast<double>(found.size());
  }
  return sum;
}

// The mean over seeds of the trial that looks best; NaN: there is none.
double TrueValueOfBest(const RecordedTable& table, const History& history) {
  double told = -std::numeric_limits<double>::infinity();
  double value = std::numeric_limits<double>::quiet_NaN();
  for (const Observation& trial : history.trials()) {
    if (trial.values.empty() || table.Score(trial.values[0]) <= told) continue;
    told = table.Score(trial.values[0]);
    value = table.Find(trial.point)->Mean();
  }
  return value;
}

}  // namespace

bool Contradict(const PlanSays& a, const PlanSays& b) {
  return ((a.freeze & b.train) | (a.train & b.freeze)) != 0;
}

importance::EvaluateOptions OptionsFor(const std::string& evaluator,
                                       std::uint64_t seed) {
  importance::EvaluateOptions options;
  options.pairs = false;
  options.threads = 1;
  options.seed = seed;
  if (evaluator == "default") return options;
  options.evaluator = evaluator;
  options.bootstraps = 0;
  return options;
}

void JudgeShares(const TableStudy& study, const std::string& evaluator,
                 JudgedStudy& out) {
  const auto report = importance::Evaluate(
      study.table.space, {study.table.objective}, study.history,
      OptionsFor(evaluator, study.setup.seed));
  out.Add("refused", report.ok() ? 0.0 : 1.0, evaluator);
  if (!report.ok()) return;
  out.Add("mae", ShareError(study.truth, *report), evaluator);
  if (evaluator != "default") return;
  for (std::size_t i = 0; i < study.truth.main.size(); ++i) {
    const double share = study.truth.main[i];
    if (share < kLeastCovered) continue;
    const importance::Interval& main = report->parameters[i].main;
    const double error = kNinetyFive * study.truth.main_errors[i];
    out.Add("cover95", share >= main.lo95 && share <= main.hi95);
    out.Add(
        "cover95_seeds",
        share >= main.value - std::hypot(main.value - main.lo95, error) &&
            share <= main.value + std::hypot(main.hi95 - main.value, error));
    out.Add("width95", main.hi95 - main.lo95);
  }
}

JudgedStudy Judge(const TableStudy& study) {
  JudgedStudy out;
  out.best = TrueValueOfBest(study.table, study.history);
  if (study.setup.shares) {
    JudgeShares(study, "default", out);
    for (const std::string& rival : study.setup.rivals) {
      JudgeShares(study, rival, out);
    }
  }
  if (study.setup.plan) {
    JudgePlan(study, out);
    JudgeFrontier(study, out);
  }
  if (!std::isnan(out.best)) {
    out.Add("best_trial_regret", study.table.Score(study.truth.best->Mean()) -
                                     study.table.Score(out.best));
  }
  return out;
}

namespace {

constexpr double kEighty = 1.2815515655446004;  // deviations, two-sided

}  // namespace

double SteadyRegret(const TableStudy& study, const Point& point) {
  const RecordedCell* const cell = study.table.Find(point);
  if (cell == nullptr || study.truth.steady.empty()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const auto place = static_cast<std::size_t>(cell - study.table.cells.data());
  return study.truth.best_steady - study.truth.steady[place];
}

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

// Single runs of the planned cell against what one run is said to show, and the
// best trial's mean against what it is said to be.
void JudgeRuns(const TableStudy& study, const importance::StudyPlan& plan,
               JudgedStudy& out) {
  if (const RecordedCell* const cell = study.table.Find(plan.point)) {
    for (const RecordedRun& run : cell->runs) {
      if (!run.succeeded) continue;
      out.Add("run_cover80", Holds80(plan.one_run, run.value, 0.0));
    }
  }
  const Observation* const best = study.history.Find(plan.best_seen_trial);
  const auto truth = TruthAt(study, best->point);
  if (!truth) return;
  out.Add("best_trial_regret_seeds", SteadyRegret(study, best->point));
  out.Add("best_cover80", Holds80(plan.best_seen_score, truth->value, 0.0));
  out.Add("best_cover80_seeds",
          Holds80(plan.best_seen_score, truth->value, truth->error));
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
  JudgeAdvice(study, *plan, plan->tolerance, out);
  JudgeRuns(study, *plan, out);
  const auto truth = TruthAt(study, plan->point);
  if (!truth) return;
  const double score = table.Score(truth->value);
  out.Add("plan_regret", table.Score(study.truth.best->Mean()) - score);
  out.Add("plan_regret_seeds", SteadyRegret(study, plan->point));
  out.Add("plan_not_worse", score >= table.Score(out.best) - plan->tolerance);
  out.Add("plan_cover80", Holds80(predicted, truth->value, 0.0));
  out.Add("plan_cover80_seeds", Holds80(predicted, truth->value, truth->error));
  out.Add("plan_promise", table.Score(predicted.value) - score);
  out.Add("plan_width80", predicted.hi80 - predicted.lo80);
}

void JudgeFrontier(const TableStudy& study, JudgedStudy& out) {
  const RecordedTable& table = study.table;
  const auto frontier = importance::MakeFrontier(
      table.space, {table.objective}, study.history, PlanOptionsFor(study));
  out.Add("refused", frontier.ok() ? 0.0 : 1.0, "frontier");
  if (!frontier.ok()) return;
  const double least =
      table.Score(study.truth.best->Mean()) - frontier->tolerance;
  for (const importance::FrontierSet& set : frontier->by_modules) {
    out.Add("frontier_impossible", IsImpossible(table, set.predicted));
    const auto truth = TruthAt(study, set.point);
    if (!truth) continue;
    out.Add("frontier_cover80", Holds80(set.predicted, truth->value, 0.0));
    out.Add("frontier_cover80_seeds",
            Holds80(set.predicted, truth->value, truth->error));
    out.Add("frontier_width80", set.predicted.hi80 - set.predicted.lo80);
    if (set.trained.empty()) {
      out.Add("frozen_cover80_seeds",
              Holds80(set.predicted, truth->value, truth->error));
    }
  }
  out.Add("frontier_named", frontier->chosen >= 0);
  if (frontier->chosen < 0) return;
  const importance::FrontierSet& chosen =
      frontier->by_modules[static_cast<std::size_t>(frontier->chosen)];
  out.Add("frontier_modules", static_cast<double>(chosen.trained.size()));
  const auto truth = TruthAt(study, chosen.point);
  if (truth) out.Add("frontier_right", table.Score(truth->value) >= least);
  const double regret = SteadyRegret(study, chosen.point);
  if (!std::isnan(regret)) {
    out.Add("frontier_right_seeds", regret <= frontier->tolerance);
  }
}

}  // namespace frostline::bench
