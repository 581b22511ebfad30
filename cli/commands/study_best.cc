// SPDX-License-Identifier: Apache-2.0
//
// `frostline study best`: the points that did best, all runs of each together.
#include <iostream>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/plain/json.h"
#include "cli/commands/command.h"
#include "cli/commands/output_flags.h"
#include "cli/report/ranked_points.h"
#include "cli/term/pager.h"
#include "cli/view/format.h"
#include "cli/view/trial_table.h"
#include "cli/view/verification_view.h"

namespace frostline::cli {
namespace {

constexpr int kUsualPoints = 5;

struct BestArgs {
  std::string id;
  int top = kUsualPoints;
  bool distinct = false;
  bool yaml = false;
  Output output;
};

std::string FrozenIn(const v1::Trial& trial) {
  std::vector<std::string> modules;
  for (const v1::ModuleRate& rate : trial.rates()) {
    if (rate.rate() == 0.0) modules.push_back(rate.module());
  }
  return absl::StrJoin(modules, " ");
}

// With --distinct each freezes other modules than all before it.
std::vector<RankedPoint> Chosen(const std::vector<RankedPoint>& points,
                                const BestArgs& args) {
  std::vector<RankedPoint> chosen;
  std::set<std::string> frozen;
  for (const RankedPoint& point : points) {
    if (static_cast<int>(chosen.size()) == args.top) break;
    const bool is_new = frozen.insert(FrozenIn(point.trials[0])).second;
    if (is_new || !args.distinct) chosen.push_back(point);
  }
  return chosen;
}

std::string NumbersOf(const RankedPoint& point, const char* between) {
  return absl::StrJoin(point.trials, between,
                       [](std::string* out, const v1::Trial& trial) {
                         absl::StrAppend(out, trial.number());
                       });
}

Table AsTable(const std::vector<RankedPoint>& points) {
  Table table({{"SCORE", Align::kRight},
               {"RUNS", Align::kRight},
               {"JUDGED", Align::kRight},
               {"TRIALS", Align::kLeft, 1},
               {.title = "RATES", .wraps = true}});
  for (const RankedPoint& point : points) {
    table.AddCells({NumberCell(point.mean),
                    {absl::StrCat(point.trials.size())},
                    NumberCell(point.judged),
                    {NumbersOf(point, ", ")},
                    {RatesInShort(point.trials[0].rates())}});
  }
  return table;
}

std::string ValuesOf(const RankedPoint& point) {
  std::vector<std::string> values;
  for (const v1::ParameterValue& value : point.values()) {
    const bool is_number =
        value.value().kind_case() == google::protobuf::Value::kNumberValue;
    values.push_back(
        absl::StrCat(JsonString(value.name()), ": ",
                     is_number ? JsonNumber(value.value().number_value())
                               : JsonString(FormatValue(value.value()))));
  }
  return absl::StrCat("{", absl::StrJoin(values, ", "), "}");
}

// Entries of `enqueue` in a study file.
std::string AsYaml(const std::vector<RankedPoint>& points) {
  std::string text = "enqueue:\n";
  for (const RankedPoint& point : points) {
    absl::StrAppend(&text, "  # judged ", FormatNumber(point.judged), ", mean ",
                    FormatNumber(point.mean), ", trials ",
                    NumbersOf(point, ", "), "\n  - values: ", ValuesOf(point),
                    "\n");
  }
  return text;
}

std::string AsJson(const std::vector<RankedPoint>& points) {
  std::vector<std::string> all;
  all.reserve(points.size());
  for (const RankedPoint& point : points) {
    all.push_back(absl::StrCat("{\"judged\": ", JsonNumber(point.judged),
                               ", \"mean\": ", JsonNumber(point.mean),
                               ", \"trials\": [", NumbersOf(point, ", "),
                               "], \"values\": ", ValuesOf(point), "}"));
  }
  return absl::StrCat("{\"points\": [", absl::StrJoin(all, ",\n"), "]}\n");
}

absl::StatusOr<ExitCode> Best(Session& session, const BestArgs& args) {
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(args.id));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const auto points, FetchRankedPoints(*client, name));
  const std::vector<RankedPoint> chosen = Chosen(points, args);
  const bool yaml = args.yaml || args.output.format == Format::kYaml;
  if (yaml && !chosen.empty()) {
    PrintPaged(session.terminal, AsYaml(chosen));
  } else {
    RETURN_IF_ERROR(PrintListJson(
        session.terminal, args.output, AsJson(chosen),
        [&chosen](bool) { return AsTable(chosen); },
        absl::StrCat("no trial of ", LastPart(name), " has succeeded yet")));
  }
  return chosen.empty() ? kExitNoResult : kExitOk;
}

}  // namespace

void AddStudyBest(CLI::App& noun, Invocation& invocation) {
  const auto args = std::make_shared<BestArgs>();
  CLI::App* const verb = AddVerb(
      noun, "best", "The best points, all runs of each together", invocation,
      [args](Session& session) { return Best(session, *args); });
  verb->add_option("ID", args->id, "The study")->required();
  verb->add_option("--top", args->top, "How many")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->add_flag("--distinct", args->distinct,
                 "Each freezes other modules than those before it");
  AddListFormats(verb, args->output);
  verb->add_flag("--yaml", args->yaml,
                 "As entries of a study file's enqueue; --format yaml")
      ->excludes(verb->get_option("--json"))
      ->excludes(verb->get_option("--format"));
}

}  // namespace frostline::cli
