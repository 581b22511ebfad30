// SPDX-License-Identifier: Apache-2.0
//
// `frostline trial curves`: what trials measured, side by side.
#include "cli/commands/trial_curves.h"

#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "cli/commands/trial_verbs.h"
#include "cli/commands/trial_words.h"
#include "cli/live/text_plot.h"

namespace frostline::cli {
namespace {

struct CurvesArgs {
  std::vector<std::string> words;
  std::string metric;
  std::string format = "table";
  bool plots = false;
};

absl::StatusOr<MeasuredCurve> FetchCurves(Client& client,
                                          const TrialName& trial) {
  v1::ListMeasurementsRequest request;
  request.set_name(TrialNameOf(trial.study_id, trial.number));
  MeasuredCurve curve{.trial = trial, .measured = {}};
  ASSIGN_OR_RETURN(
      curve.measured,
      client.CallForAll(&v1::StudyService::Stub::ListMeasurements, request));
  return curve;
}

// With a metric that none has measured nothing would be shown.
absl::StatusOr<std::set<std::string>> WantedCurve(const MeasuredCurves& curves,
                                                  const std::string& wanted) {
  std::set<std::string> metrics = MetricsIn(curves);
  if (wanted.empty() || metrics.empty()) return metrics;
  if (metrics.contains(wanted)) return std::set<std::string>{wanted};
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("none of them has measured '", wanted, "'"),
                   absl::StrCat("there are: ", absl::StrJoin(metrics, ", ")),
                   "--metric");
}

absl::StatusOr<ExitCode> ShowCurves(Session& session, const CurvesArgs& args) {
  ASSIGN_OR_RETURN(const std::vector<TrialName> trials,
                   TrialNamesFrom(args.words));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  MeasuredCurves curves;
  for (const TrialName& trial : trials) {
    ASSIGN_OR_RETURN(MeasuredCurve curve, FetchCurves(*client, trial));
    curves.push_back(std::move(curve));
  }
  ASSIGN_OR_RETURN(const std::set<std::string> metrics,
                   WantedCurve(curves, args.metric));
  const int width = session.terminal.width;
  if (args.format == "json") {
    std::cout << CurvesJson(std::move(curves), metrics);
  } else if (args.format == "csv") {
    std::cout << CurvesCsv(curves, metrics);
  } else if (metrics.empty()) {
    std::cerr << "no measurements\n";
  } else if (args.plots) {
    std::cout << CurvesPlot(curves, metrics, width == 0 ? kPlotColumns : width);
  } else {
    std::cout << CurvesTable(curves, metrics, width);
  }
  return kExitOk;
}

}  // namespace

void AddTrialCurves(CLI::App& noun, Invocation& invocation) {
  const auto args = std::make_shared<CurvesArgs>();
  CLI::App* const verb =
      AddVerb(noun, "curves", "What trials measured at each step, side by side",
              invocation,
              [args](Session& session) { return ShowCurves(session, *args); });
  verb->add_option("TRIAL", args->words,
                   "STUDY and numbers, or STUDY/NUMBER of several studies")
      ->required();
  verb->add_option("--metric", args->metric, "This one alone; else all");
  CLI::Option* const plot = verb->add_flag("--plot", args->plots,
                                           "Draw them, a plot for each metric");
  verb->add_option("--format", args->format, "table, csv, json [table]")
      ->excludes(plot)
      ->transform(CLI::IsMember(
          std::vector<std::string>{"table", "csv", "json"}, CLI::ignore_case));
}

}  // namespace frostline::cli
