// SPDX-License-Identifier: Apache-2.0
//
// `frostline study history`: what each trial reached, and what was best so far.
#include <algorithm>
#include <iostream>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "cli/commands/command.h"
#include "cli/live/text_plot.h"
#include "cli/term/utf8.h"
#include "cli/view/format.h"

namespace frostline::cli {
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

// Trials by their number; those without a value have no point.
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
