// SPDX-License-Identifier: Apache-2.0
#include "cli/report/trial_scores.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "cli/report/ranked_points.h"
#include "cli/term/table.h"
#include "cli/view/format.h"
#include "cli/view/importance_text.h"
#include "cli/view/plan_view.h"
#include "cli/view/trial_view.h"

namespace frostline::cli {

const v1::Objective& FirstObjective(const StudyRecord& record) {
  static const v1::Objective kNone;
  const v1::StudySpec& spec = record.study.spec();
  return spec.objectives().empty() ? kNone : spec.objectives(0);
}

bool IsBetter(const v1::Objective& objective, double a, double b) {
  return objective.direction() == v1::DIRECTION_MINIMIZE ? a < b : a > b;
}

std::vector<const v1::Trial*> ByScore(const StudyRecord& record) {
  std::vector<const v1::Trial*> trials;
  for (const v1::Trial& trial : record.trials.trials()) {
    if (trial.state() == v1::TRIAL_STATE_SUCCEEDED && !trial.values().empty()) {
      trials.push_back(&trial);
    }
  }
  const v1::Objective& objective = FirstObjective(record);
  std::stable_sort(trials.begin(), trials.end(),
                   [&objective](const v1::Trial* a, const v1::Trial* b) {
                     return IsBetter(objective, a->values(0), b->values(0));
                   });
  return trials;
}

std::string BestTrialSentence(const StudyRecord& record) {
  const auto trials = ByScore(record);
  if (trials.empty()) return "";
  const v1::Trial& best = *trials[0];
  const std::string point = PointKeyOf(best);
  double sum = 0.0;
  int runs = 0;
  for (const v1::Trial* const trial : trials) {
    if (PointKeyOf(*trial) != point) continue;
    sum += trial->values(0);
    ++runs;
  }
  const std::string seen =
      absl::StrCat("Best trial: ", best.number(), ", ",
                   ObjectiveText(best, record.study.spec()));
  if (runs == 1) return absl::StrCat(seen, ", as it was seen in one run.");
  return absl::StrCat(seen, " in one run; its point was run ", runs,
                      " times, with a mean ", FirstObjective(record).metric(),
                      " of ", FormatNumber(sum / runs), ".");
}

std::vector<const v1::Trial*> FrontBy(
    const std::vector<const v1::Trial*>& trials, const v1::Objective& objective,
    double (*cost)(const v1::Trial&)) {
  std::vector<const v1::Trial*> by_cost = trials;
  std::stable_sort(by_cost.begin(), by_cost.end(),
                   [cost](const v1::Trial* a, const v1::Trial* b) {
                     return cost(*a) < cost(*b);
                   });
  std::vector<const v1::Trial*> front;
  for (const v1::Trial* trial : by_cost) {
    if (!front.empty() && cost(*front.back()) == cost(*trial)) {
      // Among trials of equal cost only the best counts.
      if (IsBetter(objective, trial->values(0), front.back()->values(0))) {
        front.back() = trial;
      }
    } else if (front.empty() ||
               IsBetter(objective, trial->values(0), front.back()->values(0))) {
      front.push_back(trial);
    }
  }
  return front;
}

double TrainedParametersOf(const v1::Trial& trial) {
  return static_cast<double>(trial.usage().trained_parameters());
}

double SecondsOfTrial(const v1::Trial& trial) {
  return trial.usage().total_seconds();
}

const v1::ModuleRate* RateOf(const v1::Trial& trial,
                             const std::string& module) {
  const auto found = std::find_if(trial.rates().begin(), trial.rates().end(),
                                  [&module](const v1::ModuleRate& rate) {
                                    return rate.module() == module;
                                  });
  return found == trial.rates().end() ? nullptr : &*found;
}

namespace {

// A page has room for this many columns of rates; the CSV has all of them.
constexpr std::size_t kMostModulesShown = 24;

using Cells = std::vector<std::string>;

// Returns the modules in the order of the trial that has most of them.
std::vector<std::string> ModulesOf(const StudyRecord& record) {
  const v1::Trial* widest = nullptr;
  for (const v1::Trial& trial : record.trials.trials()) {
    if (widest == nullptr || trial.rates_size() > widest->rates_size()) {
      widest = &trial;
    }
  }
  std::vector<std::string> modules;
  if (widest == nullptr) return modules;
  for (const v1::ModuleRate& rate : widest->rates()) {
    modules.push_back(rate.module());
  }
  return modules;
}

Cells TrialCells(const v1::Trial& trial, int objectives,
                 const std::vector<std::string>& modules, bool full) {
  const auto number = [full](double value) {
    return full ? CsvNumber(value) : FormatNumber(value);
  };
  Cells cells = {absl::StrCat(trial.number()), NameOf(trial.state())};
  for (int i = 0; i < objectives; ++i) {
    cells.push_back(i < trial.values_size() ? number(trial.values(i)) : "");
  }
  const v1::Usage& usage = trial.usage();
  cells.push_back(usage.trained_parameters() > 0
                      ? (full ? absl::StrCat(usage.trained_parameters())
                              : FormatCount(usage.trained_parameters()))
                      : "");
  cells.push_back(usage.total_seconds() > 0.0 ? number(usage.total_seconds())
                                              : "");
  cells.push_back(trial.seed() == 0 ? "" : absl::StrCat(trial.seed()));
  for (const std::string& module : modules) {
    const v1::ModuleRate* const rate = RateOf(trial, module);
    cells.push_back(rate == nullptr ? ""
                    : full          ? CsvNumber(rate->rate())
                                    : FormatRate(rate->rate()));
  }
  return cells;
}

// Returns "41 of 80".
std::string FrozenText(const v1::Trial& trial) {
  const auto frozen =
      std::count_if(trial.rates().begin(), trial.rates().end(),
                    [](const auto& rate) { return rate.rate() == 0.0; });
  return trial.rates().empty()
             ? ""
             : absl::StrCat(frozen, " of ", trial.rates_size());
}

}  // namespace

ReportTable PlanTable(const v1::FreezePlan& plan) {
  ReportTable table = {"plan",
                       {"module", "rate", "advice", "freezing costs", "why"},
                       {},
                       PlanCsv(plan)};
  for (const v1::PlannedModule& module : plan.modules()) {
    table.rows.push_back(
        {module.module(), FormatRate(module.freeze() ? 0.0 : module.rate()),
         AdviceText(module), WithInterval(module.cost_of_freezing()),
         module.reason()});
  }
  return table;
}

ReportTable ImportanceTable(const v1::ImportanceReport& report) {
  ReportTable table = {"importance",
                       {"module or parameter", "alone", "80 %",
                        "with all interactions", "among the first three"},
                       {},
                       ImportanceCsv(report)};
  for (const v1::ParameterImportance& row : report.parameters()) {
    table.rows.push_back({row.parameter(), Percent(row.main().value()),
                          PercentInterval(row.main()),
                          Percent(row.total().value()),
                          Probability(row.top3_probability())});
  }
  return table;
}

ReportTable FrontierTable(const v1::Frontier& frontier) {
  ReportTable table = {"frontier",
                       {"trained", "modules", "predicted",
                        "within the tolerance", "trained parameters"},
                       {},
                       FrontierCsv(frontier)};
  for (const v1::FrontierSet& set : frontier.by_modules()) {
    table.rows.push_back(
        {absl::StrCat(set.trained_size()),
         ModuleList({set.trained().begin(), set.trained().end()}),
         WithInterval(set.predicted()),
         Probability(set.within_tolerance_probability()),
         CountOrDash(set.trained_parameters())});
  }
  return table;
}

ReportTable TrialsTable(const StudyRecord& record) {
  const std::vector<std::string> modules = ModulesOf(record);
  ReportTable table;
  table.name = "trials";
  table.columns = {"trial", "state"};
  const int objectives = record.study.spec().objectives_size();
  for (const v1::Objective& objective : record.study.spec().objectives()) {
    table.columns.push_back(objective.metric());
  }
  table.columns.insert(table.columns.end(),
                       {"trained parameters", "seconds", "seed"});
  std::vector<std::string> all_columns = table.columns;
  all_columns.insert(all_columns.end(), modules.begin(), modules.end());
  table.csv = CsvLine(all_columns);
  const bool shows_rates = modules.size() <= kMostModulesShown;
  if (shows_rates) {
    table.columns = all_columns;
  } else {
    table.columns.push_back("modules frozen");
  }
  for (const v1::Trial& trial : record.trials.trials()) {
    const auto& shown = shows_rates ? modules : std::vector<std::string>();
    table.rows.push_back(TrialCells(trial, objectives, shown, false));
    if (!shows_rates) table.rows.back().push_back(FrozenText(trial));
    table.csv += CsvLine(TrialCells(trial, objectives, modules, true));
  }
  return table;
}

}  // namespace frostline::cli
