// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/tables/table_judge.h"

#include <cmath>
#include <limits>

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

}  // namespace frostline::bench
