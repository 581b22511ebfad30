// SPDX-License-Identifier: Apache-2.0
#include "cli/report/record_tables.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "cli/report/trial_scores.h"
#include "cli/term/csv.h"
#include "cli/view/format.h"
#include "cli/view/frontier_view.h"
#include "cli/view/importance_csv.h"
#include "cli/view/importance_text.h"

namespace frostline::cli {
namespace {

// A page has room for so many columns of rates; the CSV has all of them.
constexpr std::size_t kMostModulesShown = 24;

using Cells = std::vector<std::string>;

// Modules in the order of the trial that has most of them.
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

// "41 of 80".
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
