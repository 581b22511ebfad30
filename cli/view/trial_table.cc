// SPDX-License-Identifier: Apache-2.0
#include "cli/view/trial_table.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "cli/term/csv.h"
#include "cli/view/format.h"
#include "cli/view/space_names.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

constexpr std::size_t kMaxTitleBytes = 40;

// What a trial says in a column.
struct TrialColumn {
  Column column;
  std::function<Cell(const v1::Trial&)> cell;
};
using TrialColumns = std::vector<TrialColumn>;

// A row of a list has no room for "embeddings" and "layer.11".
std::string ShortTitle(const std::string& parameter) {
  if (parameter == "embeddings") return "emb";
  if (absl::StartsWith(parameter, "layer.")) return "L" + parameter.substr(6);
  return parameter;
}

// Adds those that `names` lacks, in the order of first appearance: conditional
// parameters are not in all trials.
std::vector<std::string> WithNamesIn(std::vector<std::string> names,
                                     const Trials& trials, const auto& items,
                                     const auto& name) {
  std::set<std::string> seen(names.begin(), names.end());
  for (const v1::Trial& trial : trials) {
    for (const auto& item : items(trial)) {
      if (seen.insert(name(item)).second) names.push_back(name(item));
    }
  }
  return names;
}

Cell ValueCell(const google::protobuf::Value& value) {
  const bool is_number =
      value.kind_case() == google::protobuf::Value::kNumberValue;
  return {FormatValue(value),
          is_number ? CsvNumber(value.number_value()) : value.string_value()};
}

Column OnDemand(const std::string& name, Align align = Align::kLeft) {
  return {proto::CleanText(name, kMaxTitleBytes), align, 0, true, name};
}

void AddObjectives(const v1::StudySpec& spec, TrialColumns& columns) {
  for (int i = 0; i < spec.objectives_size(); ++i) {
    const std::string& metric = spec.objectives(i).metric();
    columns.push_back({{proto::CleanText(metric, kMaxTitleBytes), Align::kRight,
                        0, false, metric},
                       [i](const v1::Trial& trial) {
                         return i < trial.values_size()
                                    ? NumberCell(trial.values(i))
                                    : Cell();
                       }});
  }
}

// `all`: also those that no trial here has.
void AddParameters(const Trials& trials, const v1::StudySpec& spec, bool all,
                   TrialColumns& columns) {
  const auto name = [](const v1::ParameterValue& one) { return one.name(); };
  const auto items = [](const v1::Trial& trial) -> const auto& {
    return trial.parameters();
  };
  std::vector<std::string> known;
  if (all) known = ParameterNames(spec);
  for (const std::string& wanted :
       WithNamesIn(std::move(known), trials, items, name)) {
    columns.push_back({{proto::CleanText(ShortTitle(wanted), kMaxTitleBytes),
                        Align::kRight, 1, false, wanted},
                       [wanted](const v1::Trial& trial) {
                         for (const v1::ParameterValue& one :
                              trial.parameters()) {
                           if (one.name() == wanted)
                             return ValueCell(one.value());
                         }
                         return Cell();
                       }});
  }
}

void AddWideColumns(TrialColumns& columns) {
  const auto add = [&columns](Column column, auto cell) {
    columns.push_back({std::move(column), cell});
  };
  add({"ATTEMPT", Align::kRight, 4}, [](const v1::Trial& trial) {
    return trial.attempt() == 0 ? Cell() : CountCell(trial.attempt());
  });
  add({"ORIGIN", Align::kLeft, 4}, [](const v1::Trial& trial) {
    return Cell{std::string(absl::StripPrefix(
        v1::TrialOrigin_Name(trial.origin()), "TRIAL_ORIGIN_"))};
  });
  add({"STARTED", Align::kLeft, 4}, [](const v1::Trial& trial) {
    return Cell{FormatTime(trial.start_time())};
  });
  add({"ENDED", Align::kLeft, 4}, [](const v1::Trial& trial) {
    return Cell{FormatTime(trial.end_time())};
  });
}

// What nobody measured is empty, not 0.
void AddUsage(TrialColumns& columns) {
  const auto add = [&columns](const char* name, auto value, auto cell) {
    columns.push_back(
        {OnDemand(name, Align::kRight), [value, cell](const v1::Trial& trial) {
           const auto amount = std::invoke(value, trial.usage());
           return amount == 0 ? Cell() : cell(amount);
         }});
  };
  add("train_seconds", &v1::Usage::train_seconds, SecondsCell);
  add("total_seconds", &v1::Usage::total_seconds, SecondsCell);
  columns.push_back({OnDemand("trained_parameters", Align::kRight),
                     [](const v1::Trial& trial) {  // none is an amount, too
                       return trial.has_usage()
                                  ? CountCell(
                                        trial.usage().trained_parameters())
                                  : Cell();
                     }});
  add("flops_spent", &v1::Usage::flops_spent,
      [](double flops) { return Cell{FormatFlops(flops), CsvNumber(flops)}; });
  add("peak_memory_bytes", &v1::Usage::peak_memory_bytes,
      [](std::int64_t bytes) {
        return Cell{FormatBytes(bytes), absl::StrCat(bytes)};
      });
  add("energy_joules", &v1::Usage::energy_joules, NumberCell);
}

void AddMetrics(const Trials& trials, const v1::StudySpec& spec,
                TrialColumns& columns) {
  std::set<std::string> names;
  for (const v1::Trial& trial : trials) {
    for (const auto& [name, value] : trial.metrics()) names.insert(name);
  }
  for (const v1::MetricConstraint& one : spec.constraints()) {
    names.insert(one.metric());
  }
  for (const v1::Objective& one : spec.objectives()) names.erase(one.metric());
  // Some are noted with the usage, too.
  for (const auto& column : columns) names.erase(column.column.title);
  for (const std::string& name : names) {
    columns.push_back(
        {OnDemand(name, Align::kRight), [name](const v1::Trial& trial) {
           const auto found = trial.metrics().find(name);
           return found == trial.metrics().end() ? Cell()
                                                 : NumberCell(found->second);
         }});
  }
}

void AddRates(const Trials& trials, const v1::StudySpec& spec,
              TrialColumns& columns) {
  const auto name = [](const v1::ModuleRate& one) { return one.module(); };
  const auto items = [](const v1::Trial& trial) -> const auto& {
    return trial.rates();
  };
  for (const std::string& module :
       WithNamesIn(ModuleNames(spec), trials, items, name)) {
    columns.push_back({OnDemand("rate." + module, Align::kRight),
                       [module](const v1::Trial& trial) {
                         for (const v1::ModuleRate& one : trial.rates()) {
                           if (one.module() == module) {
                             return RateCell(one.rate());
                           }
                         }
                         return Cell();
                       }});
  }
}

void AddWords(TrialColumns& columns) {
  const auto add = [&columns](const char* name, auto text) {
    columns.push_back({OnDemand(name), [text](const v1::Trial& trial) {
                         return Cell{text(trial)};
                       }});
  };
  add("name", [](const v1::Trial& trial) { return trial.name(); });
  add("created",
      [](const v1::Trial& trial) { return FormatTime(trial.create_time()); });
  add("labels",
      [](const v1::Trial& trial) { return FormatLabels(trial.labels()); });
  add("note", [](const v1::Trial& trial) { return trial.note(); });
  add("cause", [](const v1::Trial& trial) { return trial.cause(); });
  add("device", [](const v1::Trial& trial) { return trial.usage().device(); });
}

TrialColumns UsualColumns(const Trials& trials, const v1::StudySpec& spec,
                          bool all) {
  TrialColumns columns;
  columns.push_back({{"TRIAL", Align::kRight}, [](const v1::Trial& trial) {
                       return Cell{absl::StrCat(trial.number())};
                     }});
  // What has a score has succeeded, where all have.
  const bool all_succeeded =
      std::all_of(trials.begin(), trials.end(), [](const v1::Trial& trial) {
        return trial.state() == v1::TRIAL_STATE_SUCCEEDED;
      });
  columns.push_back(
      {{"STATE", Align::kLeft, all_succeeded ? 2 : 0},
       [](const v1::Trial& trial) { return Cell{NameOf(trial.state())}; }});
  AddObjectives(spec, columns);
  columns.push_back({{"TIME", Align::kRight, 3}, [](const v1::Trial& trial) {
                       return SecondsCell(SecondsOf(trial));
                     }});
  columns.push_back({{"WORKER", Align::kLeft, 4}, [](const v1::Trial& trial) {
                       return Cell{LastPart(trial.worker())};
                     }});
  const bool has_seeds =
      std::any_of(trials.begin(), trials.end(),
                  [](const v1::Trial& trial) { return trial.seed() != 0; });
  if (has_seeds || all) {
    columns.push_back({{"SEED", Align::kRight, 5}, [](const v1::Trial& trial) {
                         return trial.seed() == 0
                                    ? Cell()
                                    : Cell{absl::StrCat(trial.seed())};
                       }});
  }
  return columns;
}

}  // namespace

Cell NumberCell(double value) {
  return {FormatNumber(value), CsvNumber(value)};
}
Cell RateCell(double rate) { return {FormatRate(rate), CsvNumber(rate)}; }
Cell SecondsCell(double seconds) {
  if (seconds < 0.0) return {};
  return {FormatSeconds(seconds), CsvNumber(seconds)};
}
Cell CountCell(std::int64_t count) {
  return {FormatCount(count), absl::StrCat(count)};
}

Table TrialTable(const Trials& trials, const v1::StudySpec& spec, bool all) {
  TrialColumns columns = UsualColumns(trials, spec, all);
  AddParameters(trials, spec, all, columns);
  if (all) {
    AddWideColumns(columns);
    AddUsage(columns);
    AddMetrics(trials, spec, columns);
    AddRates(trials, spec, columns);
    AddWords(columns);
  }
  std::vector<Column> heads;
  for (const TrialColumn& one : columns) heads.push_back(one.column);
  Table table(std::move(heads), "trial");
  for (const v1::Trial& trial : trials) {
    std::vector<Cell> cells;
    cells.reserve(columns.size());
    for (const TrialColumn& one : columns) cells.push_back(one.cell(trial));
    table.AddCells(std::move(cells));
    const bool failed = trial.state() == v1::TRIAL_STATE_FAILED ||
                        trial.state() == v1::TRIAL_STATE_INFEASIBLE;
    if (failed && !trial.cause().empty()) table.Remark(trial.cause());
  }
  return table;
}

}  // namespace frostline::cli
