// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/tables/table_judge.h"

#include <cmath>
#include <limits>

#include "importance/evaluator.h"

namespace frostline {
namespace {

constexpr double kLeastCovered = 0.01;

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

double ShareError(const TableTruth& truth, const Report& report) {
  std::vector<double> found;
  for (const ParameterImportance& one : report.parameters) {
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

EvaluateOptions OptionsFor(const std::string& evaluator, std::uint64_t seed) {
  EvaluateOptions options;
  options.pairs = false;
  options.threads = 1;  // studies are judged side by side
  options.seed = seed;
  if (evaluator == "default") return options;
  options.evaluator = evaluator;
  options.bootstraps = 0;
  return options;
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

// A class of its own, so that what is judged need not be handed around.
class StudyJudge {
 public:
  StudyJudge(const RecordedTable& table, const TableTruth& truth,
             const History& history, const JudgeSetup& setup)
      : table_(table), truth_(truth), history_(history), setup_(setup) {
    out_.best = TrueValueOfBest(table, history);
  }

  void Shares(const std::string& evaluator) {
    const auto report = Evaluate(table_.space, {table_.objective}, history_,
                                 OptionsFor(evaluator, setup_.seed));
    Add("refused", report.ok() ? 0.0 : 1.0, evaluator);
    if (!report.ok()) return;
    Add("mae", ShareError(truth_, *report), evaluator);
    if (evaluator != "default") return;
    for (std::size_t i = 0; i < truth_.main.size(); ++i) {
      if (truth_.main[i] < kLeastCovered) continue;
      const Interval& main = report->parameters[i].main;
      Add("cover95",
          truth_.main[i] >= main.lo95 && truth_.main[i] <= main.hi95);
      Add("width95", main.hi95 - main.lo95);
    }
  }

  void Plan() {
    PlanOptions options;
    options.evaluate = OptionsFor("default", setup_.seed);
    const auto plan =
        MakePlan(table_.space, {table_.objective}, history_, options);
    Add("refused", plan.ok() ? 0.0 : 1.0, "plan");
    if (!plan.ok()) return;
    out_.planned = true;
    Say(*plan);
    Add("plan_impossible", IsImpossible(plan->predicted_score));
    const RecordedCell* const cell = table_.Find(plan->point);
    if (cell == nullptr || cell->Succeeded() == 0) return;
    const double score = table_.Score(cell->Mean());
    const double best = table_.Score(truth_.best->Mean());
    Add("plan_regret", best - score);
    Add("plan_not_worse", score >= table_.Score(out_.best));
    Add("plan_cover80", cell->Mean() >= plan->predicted_score.lo80 &&
                            cell->Mean() <= plan->predicted_score.hi80);
    Add("plan_promise", table_.Score(plan->predicted_score.value) - score);
    Add("plan_width80",
        plan->predicted_score.hi80 - plan->predicted_score.lo80);
  }

  void Best() {
    if (std::isnan(out_.best)) return;
    Add("best_trial_regret",
        table_.Score(truth_.best->Mean()) - table_.Score(out_.best));
  }

  JudgedStudy Take() { return std::move(out_); }

 private:
  void Add(const std::string& key, double value, const std::string& end = "") {
    out_.figures.push_back({key, end, value});
  }

  void Say(const StudyPlan& plan) {
    for (std::size_t m = 0; m < plan.modules.size(); ++m) {
      const PlannedModule& module = plan.modules[m];
      const Interval& cost = module.cost_of_freezing;
      const std::uint64_t bit = std::uint64_t{1} << m;
      if (module.freeze && cost.hi95 <= 0.0) out_.says.freeze |= bit;
      if (!module.freeze && cost.lo95 > 0.0) out_.says.train |= bit;
    }
  }

  // Accuracy, which the tables are recorded for, is 0 to 1.
  static bool IsImpossible(const Interval& score) {
    for (const double end :
         {score.value, score.lo80, score.hi80, score.lo95, score.hi95}) {
      if (!(end >= 0.0 && end <= 1.0)) return true;
    }
    return false;
  }

  const RecordedTable& table_;
  const TableTruth& truth_;
  const History& history_;
  const JudgeSetup& setup_;
  JudgedStudy out_;
};

}  // namespace

bool Contradict(const PlanSays& a, const PlanSays& b) {
  return ((a.freeze & b.train) | (a.train & b.freeze)) != 0;
}

JudgedStudy Judge(const RecordedTable& table, const TableTruth& truth,
                  const History& history, const JudgeSetup& setup) {
  StudyJudge judge(table, truth, history, setup);
  if (setup.shares) {
    judge.Shares("default");
    for (const std::string& rival : setup.rivals) judge.Shares(rival);
  }
  if (setup.plan) judge.Plan();
  judge.Best();
  return judge.Take();
}

}  // namespace frostline
