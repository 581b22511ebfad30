// SPDX-License-Identifier: Apache-2.0
//
// `frostline study best`: the points that did best, all runs of each together.
#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/plain/json.h"
#include "cli/commands/command.h"
#include "cli/commands/output_flags.h"
#include "cli/live/text_plot.h"
#include "cli/report/ranked_points.h"
#include "cli/term/terminal.h"
#include "cli/term/utf8.h"
#include "cli/view/format.h"
#include "cli/view/plan_view.h"
#include "cli/view/trial_view.h"

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

// Chooses points. With --distinct each one freezes other modules than all
// before.
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

// Returns entries of `enqueue` for a study file.
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

// `frostline study history`: what each trial reached, and what was best so far.

namespace {

struct HistoryArgs {
  std::string id;
  std::string objective;
  int width = 0;
  int height = kPlotLines;
};

constexpr int kNarrowest = 20;
constexpr int kWidestHistory = 1000;
constexpr int kLowest = 3;
constexpr int kHighest = 200;

absl::StatusOr<int> IndexOf(const v1::StudySpec& spec,
                            const std::string& metric) {
  if (metric.empty()) return 0;
  std::string known;
  for (int i = 0; i < spec.objectives_size(); ++i) {
    if (spec.objectives(i).metric() == metric) return i;
    absl::StrAppend(&known, i == 0 ? "" : ", ", spec.objectives(i).metric());
  }
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("'", metric, "' is no objective of the study"),
                   absl::StrCat("give one of: ", known), "--objective");
}

// The trials by number; a trial without a value has no point.
struct ShownHistory {
  Curve values;
  Curve best;
};

ShownHistory HistoryOf(const v1::ListTrialsReply& trials, int objective,
                       bool higher_is_better) {
  std::vector<std::pair<double, double>> points;
  for (const v1::Trial& trial : trials.trials()) {
    if (trial.values_size() <= objective) continue;
    points.emplace_back(static_cast<double>(trial.number()),
                        trial.values(objective));
  }
  std::sort(points.begin(), points.end());
  ShownHistory history;
  std::optional<double> best;
  for (const auto& [number, value] : points) {
    const bool is_better = value == value &&  // not NaN
                           (!best.has_value() ||
                            (higher_is_better ? value > *best : value < *best));
    if (is_better) best = value;
    if (best.has_value()) history.best.points.emplace_back(number, *best);
  }
  history.values.points = std::move(points);
  return history;
}

absl::StatusOr<ExitCode> ShowHistory(Session& session,
                                     const HistoryArgs& args) {
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(args.id));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::Study study, FetchStudy(*client, name));
  ASSIGN_OR_RETURN(const int objective, IndexOf(study.spec(), args.objective));
  v1::ListTrialsRequest request;
  request.set_parent(name);
  request.set_filter("state = SUCCEEDED");
  ASSIGN_OR_RETURN(
      const v1::ListTrialsReply trials,
      client->CallForAll(&v1::StudyService::Stub::ListTrials, request));
  const v1::Objective& wanted = study.spec().objectives(objective);
  const bool higher = wanted.direction() == v1::DIRECTION_MAXIMIZE;
  const ShownHistory history = HistoryOf(trials, objective, higher);
  int width = args.width;
  if (width == 0) width = session.terminal.width;
  if (width == 0) width = kPlotColumns;
  const std::string caption = absl::StrCat(
      wanted.metric(), " by trial number, ", higher ? "higher" : "lower",
      " is better; o a trial, the line: best so far");
  std::cout << WrapText(caption, width)
            << PlotHistory(history.values, history.best, width, args.height);
  return kExitOk;
}

}  // namespace

void AddStudyHistory(CLI::App& noun, Invocation& invocation) {
  const auto args = std::make_shared<HistoryArgs>();
  CLI::App* const verb =
      AddVerb(noun, "history",
              "Plot what each trial reached, and the best so far", invocation,
              [args](Session& session) { return ShowHistory(session, *args); });
  verb->add_option("ID", args->id, "The study")->required();
  verb->add_option("--objective", args->objective,
                   "One of its metrics; else the first")
      ->type_name("METRIC");
  verb->add_option("--width", args->width,
                   "Columns; else the terminal's, or 80")
      ->check(CLI::Range(kNarrowest, kWidestHistory));
  verb->add_option("--height", args->height, "Lines of the plot")
      ->check(CLI::Range(kLowest, kHighest))
      ->capture_default_str();
}

}  // namespace frostline::cli
