// SPDX-License-Identifier: Apache-2.0
#include "cli/view/trial_view.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/plain/json.h"
#include "cli/term/table.h"
#include "cli/view/format.h"
#include "cli/view/message_text.h"
#include "proto/wire_error.h"
#include "study/freezing.h"

namespace frostline::cli {
namespace {

ModelShape ShapeOf(const v1::StudySpec& spec) {
  ModelShape shape{.num_layers = spec.model().layers(),
                   .heads_per_layer = spec.model().heads(),
                   .has_pooler = !spec.model().no_pooler()};
  for (const v1::TaskSpec& task : spec.tasks()) {
    shape.tasks.push_back(task.name());
  }
  return shape;
}

// Adds the modules of a selector. The coordinator has accepted the space, so a
// selector without modules comes from a later version and adds none.
void AddSelected(const ModelShape& shape, const std::string& selector,
                 std::vector<std::string>& names) {
  const auto modules = SelectModules(shape, selector, "");
  if (!modules.ok()) return;
  names.insert(names.end(), modules->begin(), modules->end());
}

bool IsSearched(const v1::NumberSpace& number) {
  return number.has_levels() || number.has_float_();
}

}  // namespace

std::vector<std::string> ParameterNames(const v1::StudySpec& spec) {
  const v1::SearchSpace& space = spec.space();
  std::vector<std::string> names;
  if (space.has_prefix_depth()) names.emplace_back("prefix_depth");
  if (IsSearched(space.layerwise_decay().base_rate())) {
    names.emplace_back("base_rate");
  }
  if (IsSearched(space.layerwise_decay().decay())) names.emplace_back("decay");
  const ModelShape shape = ShapeOf(spec);
  for (const v1::ModuleSpace& one : space.modules()) {
    if (one.has_rank()) {
      std::vector<std::string> modules;
      AddSelected(shape, one.select(), modules);
      for (const std::string& each : modules) names.push_back("rank." + each);
    }
    if (!one.has_levels() && !one.has_log_uniform()) continue;
    AddSelected(shape, one.select(), names);
  }
  for (const v1::Tie& tie : space.ties()) names.push_back(tie.name());
  for (const v1::ParameterSpace& one : space.parameters()) {
    names.push_back(one.name());
  }
  return names;
}

std::vector<std::string> ModuleNames(const v1::StudySpec& spec) {
  const ModelShape shape = ShapeOf(spec);
  std::vector<std::string> named;
  for (const v1::ModuleSpace& one : spec.space().modules()) {
    AddSelected(shape, one.select(), named);
  }
  for (const v1::Tie& tie : spec.space().ties()) {
    for (const std::string& one : tie.modules()) AddSelected(shape, one, named);
  }
  std::vector<std::string> names;
  for (const std::string& top : TopModules(shape)) {
    names.push_back(top);
    // As the trials have them: the parts of a layer by the alphabet.
    for (const std::string& part :
         std::set<std::string>(named.begin(), named.end())) {
      if (part != top && Overlap(part, top)) names.push_back(part);
    }
  }
  return names;
}

namespace {

// It is a template because both messages have these fields.
template <typename Usage>
std::string WorkText(const Usage& usage) {
  if (usage.flops_spent() <= 0) return "";
  std::string text = absl::StrCat(FormatFlops(usage.flops_spent()), " done");
  if (usage.flops_skipped() > 0) {
    absl::StrAppend(&text, ", ", FormatFlops(usage.flops_skipped()),
                    " skipped");
  }
  if (usage.flops_shared() > 0) {
    absl::StrAppend(&text, ", ", FormatFlops(usage.flops_shared()), " shared");
  }
  return text;
}

template <typename Usage>
std::string PrefixText(const Usage& usage) {
  if (usage.prefix_hits() == 0 && usage.prefix_misses() == 0) return "";
  std::string text =
      absl::StrCat("rows taken ", FormatCount(usage.prefix_hits()),
                   ", computed ", FormatCount(usage.prefix_misses()));
  if (usage.prefix_bytes() > 0) {
    absl::StrAppend(&text, "; ", FormatBytes(usage.prefix_bytes()), " stored");
  }
  return text;
}

// Returns "about 3m10s", "about 3m10s to 4m05s".
std::string RangeText(const v1::SecondsRange& range) {
  const std::string least = FormatSeconds(range.least());
  const std::string most = FormatSeconds(range.most());
  return least == most ? absl::StrCat("about ", least)
                       : absl::StrCat("about ", least, " to ", most);
}

}  // namespace

std::string EstimateText(const v1::StudyUsage& usage) {
  std::vector<std::string> parts;
  if (usage.has_without_sharing()) {
    parts.push_back(
        absl::StrCat(RangeText(usage.without_sharing()), " without sharing"));
  }
  if (usage.has_without_freezing()) {
    parts.push_back(
        absl::StrCat(RangeText(usage.without_freezing()),
                     " had frozen modules cost what trained ones do"));
  }
  if (parts.empty()) return "";
  return absl::StrCat("this study would have taken ",
                      absl::StrJoin(parts, ", "));
}

std::string UsageLines(const v1::StudyUsage& usage) {
  if (usage.trials() == 0) return "";
  std::string text = KeyLine(
      "cost", absl::StrCat(FormatSeconds(usage.total_seconds()), " of ",
                           FormatCount(usage.trials()),
                           usage.trials() == 1 ? " trial, " : " trials, ",
                           FormatSeconds(usage.train_seconds()),
                           " of that in training steps"));
  text += KeyLine("work", WorkText(usage));
  text += KeyLine("prefixes", PrefixText(usage));
  text += KeyLine("estimate", EstimateText(usage));
  return text;
}

std::string UsageLines(const v1::Usage& usage) {
  std::string cost;
  if (usage.total_seconds() > 0 || usage.train_seconds() > 0) {
    cost = absl::StrCat(FormatSeconds(usage.train_seconds()),
                        " in training steps");
  }
  return KeyLine("cost", cost) + KeyLine("work", WorkText(usage)) +
         KeyLine("prefixes", PrefixText(usage));
}

namespace {

constexpr std::size_t kMaxTitleBytes = 40;

// A column of a table of trials.
struct TrialColumn {
  Column column;
  std::function<Cell(const v1::Trial&)> cell;
};
using TrialColumns = std::vector<TrialColumn>;

// Returns a short title: a list has no room for "embeddings" and "layer.11".
std::string ShortTitle(const std::string& parameter) {
  if (parameter == "embeddings") return "emb";
  if (absl::StartsWith(parameter, "layer.")) return "L" + parameter.substr(6);
  return parameter;
}

// Appends the names that are missing, in the order of first appearance, because
// conditional parameters are not in all trials.
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

// Adds columns for parameters. `all` includes those that no trial here has.
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

// Adds columns for usage. A value that nobody measured is empty, not 0.
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
                             return Cell{FormatTrained(one),
                                         CsvNumber(one.rate())};
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

namespace {

// Returns the seed, or "" when it is unknown.
std::string SeedText(const v1::Trial& trial) {
  return trial.seed() == 0 ? "" : absl::StrCat(trial.seed());
}

std::string AttemptsText(const v1::Trial& trial) {
  if (trial.attempts().empty()) return "";
  Table table({{"ATTEMPT", Align::kRight}, {"STATE"}, {"WORKER"}, {"CAUSE"}});
  for (const v1::Attempt& attempt : trial.attempts()) {
    table.AddRow({absl::StrCat(attempt.number()), NameOf(attempt.state()),
                  LastPart(attempt.worker()), attempt.cause()});
  }
  return "\n" + table.Render();
}

std::string MetricsText(const v1::Trial& trial) {
  if (trial.metrics().empty()) return "";
  Table table({{"METRIC"}, {"VALUE", Align::kRight}});
  const std::map<std::string, double> sorted(trial.metrics().begin(),
                                             trial.metrics().end());
  for (const auto& [name, value] : sorted) {
    table.AddRow({name, FormatNumber(value)});
  }
  return "\n" + table.Render();
}

}  // namespace

std::string ObjectiveText(const v1::Trial& trial, const v1::StudySpec& spec) {
  std::string text;
  const int count = std::min(trial.values_size(), spec.objectives_size());
  for (int i = 0; i < count; ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", spec.objectives(i).metric(), " ",
                    FormatNumber(trial.values(i)));
  }
  return proto::CleanText(text, proto::kMaxCauseBytes);
}

std::string RenderTrialTable(const std::vector<v1::Trial>& trials,
                             const v1::StudySpec& spec, int width) {
  return TrialTable({trials.begin(), trials.end()}, spec, /*all=*/false)
      .Render(width);
}

std::string FrontHeading(std::size_t trials, int width) {
  return WrapText(
      trials == 1
          ? "the best trial: no other is better in any objective"
          : absl::StrCat("the best trials (Pareto set): none of these ", trials,
                         " can be bettered in one objective without loss in "
                         "another"),
      width);
}

std::string RenderFront(const std::vector<v1::Trial>& trials,
                        const v1::StudySpec& spec, int width) {
  return FrontHeading(trials.size(), width) +
         RenderTrialTable(trials, spec, width);
}

std::string RenderRates(const v1::Trial& trial) {
  Table table({{"MODULE"}, {"RATE", Align::kRight}, {""}});
  for (const v1::ModuleRate& rate : trial.rates()) {
    table.AddRow(
        {rate.module(), FormatTrained(rate), rate.rate() == 0.0 ? "*" : ""});
  }
  const bool any_frozen = std::any_of(
      trial.rates().begin(), trial.rates().end(),
      [](const v1::ModuleRate& rate) { return rate.rate() == 0.0; });
  return absl::StrCat(table.Render(), any_frozen ? "(* frozen)\n" : "");
}

namespace {

// Returns a share as a percentage, or "" for none.
Cell ShareCell(double share) {
  if (share == 0.0) return {};
  return {share < 1e-6 ? "a bit" : FormatNumber(100.0 * share) + " %",
          CsvNumber(share)};
}

Cell MemoryCell(std::int64_t bytes) {
  if (bytes == 0) return {};
  return {FormatBytes(bytes), absl::StrCat(bytes)};
}

}  // namespace

Table AuditTable(const v1::Trial& trial) {
  Table table({{"MODULE"},
               {"RATE", Align::kRight},
               {"MOVED", Align::kRight},
               {"COULD MOVE", Align::kRight, 2},
               {"GRADIENT", Align::kLeft, 3},
               {"WEIGHTS", Align::kRight, 4},
               {"GRADIENTS", Align::kRight, 6},
               {"MOMENTS", Align::kRight, 5},
               {"ACTIVATIONS", Align::kRight, 4}});
  for (const v1::ModuleAudit& row : trial.usage().audit()) {
    table.AddCells(
        {{row.module()},
         row.rate() == 0.0 ? Cell{"frozen", "0"} : RateCell(row.rate()),
         ShareCell(row.moved()),
         ShareCell(row.could_move()),
         {row.had_gradient() ? "yes" : "no"},
         MemoryCell(row.weight_bytes()),
         MemoryCell(row.gradient_bytes()),
         MemoryCell(row.moment_bytes()),
         MemoryCell(row.activation_bytes())});
    if (row.rate() > 0.0 && row.moved() == 0.0) {
      table.Remark(absl::StrCat("did not move: it ", row.had_gradient()
                                                         ? "had gradients"
                                                         : "never had a "
                                                           "gradient"));
    }
  }
  return table;
}

std::string RenderTrial(const v1::Trial& trial, const v1::StudySpec& spec) {
  std::string text = KeyLine("trial", trial.name());
  text += KeyLine("state", NameOf(trial.state()));
  text += KeyLine("cause", trial.cause());
  text += KeyLine("objective", ObjectiveText(trial, spec));
  text += KeyLine("worker", LastPart(trial.worker()));
  text += KeyLine("seed", SeedText(trial));
  text += KeyLine(
      "repeat",
      trial.repeat() > 0
          ? absl::StrCat("its point ran ", trial.repeat(),
                         trial.repeat() > 1 ? " times before" : " time before")
          : "");
  text += KeyLine("started", FormatTime(trial.start_time()));
  text += KeyLine("ended", FormatTime(trial.end_time()));
  text += KeyLine("time", FormatSeconds(SecondsOf(trial)));
  text += KeyLine("last step",
                  trial.last_step() > 0 ? FormatCount(trial.last_step()) : "");
  text += UsageLines(trial.usage());
  text += KeyLine("device", trial.usage().device());
  const v1::TrainedModel& model = trial.usage().model();
  text += KeyLine("model", model.folder().empty()
                               ? ""
                               : absl::StrCat(model.host(), ":", model.folder(),
                                              " while it is kept"));
  text += KeyLine("note", trial.note());
  Table parameters({{"PARAMETER"}, {"VALUE", Align::kRight}});
  for (const v1::ParameterValue& value : trial.parameters()) {
    parameters.AddRow({value.name(), FormatValue(value.value())});
  }
  text += "\n" + parameters.Render();
  if (trial.rates_size() > 0) {
    absl::StrAppend(&text, "\n", RenderRates(trial));
  }
  if (trial.usage().audit_size() > 0) {
    absl::StrAppend(&text, "\n", AuditTable(trial).Render());
  }
  return absl::StrCat(text, MetricsText(trial), AttemptsText(trial));
}

std::string TrialLine(const v1::Trial& trial, const v1::StudySpec& spec) {
  std::string line =
      absl::StrCat("trial ", trial.number(), "  ", NameOf(trial.state()));
  const auto add = [&line](const std::string& part) {
    if (!part.empty()) absl::StrAppend(&line, "  ", part);
  };
  add(ObjectiveText(trial, spec));
  if (IsEnded(trial.state())) add(FormatSeconds(SecondsOf(trial)));
  if (!trial.worker().empty()) add("worker " + LastPart(trial.worker()));
  if (trial.attempt() > 1) add(absl::StrCat("attempt ", trial.attempt()));
  add(trial.cause());
  return proto::CleanText(line, proto::kMaxCauseBytes);
}

namespace {

std::string QuotedLogText(const std::string& text) {
  google::protobuf::Value value;
  value.set_string_value(text);
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(value, &json);
  return status.ok() ? json : "null";
}

std::string Number(std::int64_t number) {
  return QuotedLogText(absl::StrCat(number));  // as protobuf's JSON has 64 bits
}

std::string Clean(const std::string& text) {
  return proto::CleanText(text, proto::kMaxCauseBytes);
}

std::string WhetherKept(const v1::LogPlace& place) {
  if (!place.has_kept()) return "if it is still there";
  return place.kept() ? "where it is kept"
                      : "which went with the trial's end (the worker's --keep)";
}

}  // namespace

std::string DescribeLogPlace(const std::string& trial,
                             const v1::GetTrialLogReply& log) {
  const v1::LogPlace& place = log.place();
  std::string text = absl::StrCat(trial, ": attempt ", log.attempt(), " ",
                                  NameOf(log.state()));
  if (place.path().empty()) {
    absl::StrAppend(&text, "; no path of its whole log is known");
    if (!log.worker().empty()) {
      absl::StrAppend(&text, ", only its worker, ", LastPart(log.worker()));
    }
    if (!place.host().empty()) {
      absl::StrAppend(&text, " on ", Clean(place.host()));
    }
    return text + "\n";
  }
  return absl::StrCat(text, "; its whole log: ", Clean(place.host()), ":",
                      Clean(place.path()), ", ", WhetherKept(place), "\n");
}

std::string DescribeNoLog(const v1::Trial& trial) {
  if (!IsEnded(trial.state())) return trial.name() + " has not begun\n";
  if (trial.origin() == v1::TRIAL_ORIGIN_IMPORTED) {
    return trial.name() + " was imported, so it did not run here\n";
  }
  return absl::StrCat(trial.name(), " is ", NameOf(trial.state()),
                      " without having run\n");
}

std::string LogToJson(const std::string& trial, const v1::GetTrialLogReply& log,
                      bool is_line) {
  const v1::LogPlace& place = log.place();
  std::string kept = "null";
  if (place.has_kept()) kept = place.kept() ? "true" : "false";
  return JsonObject()
             .Put("trial", QuotedLogText(trial))
             .Put("attempt", Number(log.attempt()))
             .Put("state", QuotedLogText(v1::AttemptState_Name(log.state())))
             .Put("worker", QuotedLogText(log.worker()))
             .Put("live", log.live() ? "true" : "false")
             .Put("host", QuotedLogText(place.host()))
             .Put("path", QuotedLogText(place.path()))
             .Put("kept", kept)
             .Put("end", Number(place.end()))
             .Put("log", QuotedLogText(log.tail()))
             .Text(is_line ? JsonLayout::kSpaced : JsonLayout::kIndented) +
         "\n";
}

std::string DescribeOutcome(const v1::Trial& trial, const v1::StudySpec& spec) {
  std::vector<std::string> parts;
  for (int i = 0; i < std::min(trial.values_size(), spec.objectives_size());
       ++i) {
    parts.push_back(absl::StrCat(spec.objectives(i).metric(), " ",
                                 FormatNumber(trial.values(i))));
  }
  if (!trial.cause().empty()) parts.push_back(Clean(trial.cause()));
  return absl::StrCat(trial.name(), " is ", NameOf(trial.state()),
                      parts.empty() ? "" : ": ", absl::StrJoin(parts, ", "),
                      "\n");
}

// Returns what `now` has beyond the longest end of `before` with which it
// begins (Knuth, Morris and Pratt 1977): the matched length of `now` grows by
// one byte, or falls back to its next shorter border.
std::string BeyondTail(const std::string& before, const std::string& now) {
  std::vector<std::size_t> border(now.size() + 1, 0);
  std::size_t matched = 0;
  for (std::size_t i = 1; i < now.size(); ++i) {
    while (matched > 0 && now[i] != now[matched]) matched = border[matched];
    if (now[i] == now[matched]) ++matched;
    border[i + 1] = matched;
  }
  matched = 0;
  for (const char byte : before) {
    if (matched == now.size()) matched = border[matched];
    while (matched > 0 && byte != now[matched]) matched = border[matched];
    if (matched < now.size() && byte == now[matched]) ++matched;
  }
  return now.substr(matched);
}

}  // namespace frostline::cli
