// SPDX-License-Identifier: Apache-2.0
//
// `frostline trial curves`: what trials measured, side by side.
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/commands/trial.h"
#include "cli/commands/trial_results.h"
#include "cli/live/text_plot.h"
#include "cli/term/table.h"
#include "cli/view/format.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"

namespace frostline::cli {
namespace {

std::string TitleOf(const TrialName& trial) {
  return absl::StrCat(trial.study_id, "/", trial.number);
}

// A table with a column for each trial and metric and a row for each step.
struct Grid {
  std::vector<std::string> titles;
  std::map<std::int64_t, std::map<std::size_t, double>> rows;
};

Grid GridOf(const MeasuredCurves& curves,
            const std::set<std::string>& metrics) {
  Grid grid;
  for (const MeasuredCurve& curve : curves) {
    for (const std::string& metric : metrics) {
      const std::size_t column = grid.titles.size();
      grid.titles.push_back(absl::StrCat(TitleOf(curve.trial), " ", metric));
      for (const v1::Measurement& one : curve.measured.measurements()) {
        const auto found = one.metrics().find(metric);
        if (found == one.metrics().end()) continue;
        grid.rows[one.step()][column] = found->second;
      }
    }
  }
  return grid;
}

}  // namespace

std::set<std::string> MetricsIn(const MeasuredCurves& curves) {
  std::set<std::string> metrics;
  for (const MeasuredCurve& curve : curves) {
    for (const v1::Measurement& one : curve.measured.measurements()) {
      for (const auto& [name, value] : one.metrics()) metrics.insert(name);
    }
  }
  return metrics;
}

std::string CurvesTable(const MeasuredCurves& curves,
                        const std::set<std::string>& metrics, int width) {
  const Grid grid = GridOf(curves, metrics);
  if (grid.rows.empty()) return "";
  std::vector<Column> columns = {{.title = "STEP", .align = Align::kRight}};
  for (const std::string& title : grid.titles) {
    columns.push_back({.title = title, .align = Align::kRight});
  }
  Table table(std::move(columns));
  for (const auto& [step, values] : grid.rows) {
    std::vector<std::string> cells(grid.titles.size() + 1);
    cells[0] = absl::StrCat(step);
    for (const auto& [column, value] : values) {
      cells[column + 1] = FormatNumber(value);
    }
    table.AddRow(std::move(cells));
  }
  return table.Render(width);
}

std::string CurvesCsv(const MeasuredCurves& curves,
                      const std::set<std::string>& metrics) {
  const Grid grid = GridOf(curves, metrics);
  std::vector<std::string> header = {"step"};
  header.insert(header.end(), grid.titles.begin(), grid.titles.end());
  std::string text = CsvLine(header);
  for (const auto& [step, values] : grid.rows) {
    std::vector<std::string> cells(grid.titles.size() + 1);
    cells[0] = absl::StrCat(step);
    for (const auto& [column, value] : values) {
      cells[column + 1] = CsvNumber(value);
    }
    text += CsvLine(cells);
  }
  return text;
}

std::string CurvesJson(MeasuredCurves curves,
                       const std::set<std::string>& metrics) {
  google::protobuf::Struct all;
  auto& list = *(*all.mutable_fields())["curves"].mutable_list_value();
  for (MeasuredCurve& curve : curves) {
    for (v1::Measurement& one : *curve.measured.mutable_measurements()) {
      google::protobuf::Map<std::string, double> kept;
      for (const auto& [name, value] : one.metrics()) {
        if (metrics.contains(name)) kept[name] = value;
      }
      *one.mutable_metrics() = std::move(kept);
    }
    auto& object = *list.add_values()->mutable_struct_value();
    (void)google::protobuf::util::JsonStringToMessage(ToJson(curve.measured),
                                                      &object);
    object.mutable_fields()->erase("next_page_token");
    (*object.mutable_fields())["trial"].set_string_value(
        TrialNameOf(curve.trial.study_id, curve.trial.number));
  }
  return ToJson(all);
}

std::string CurvesPlot(const MeasuredCurves& curves,
                       const std::set<std::string>& metrics, int width) {
  std::string text;
  for (const std::string& metric : metrics) {
    std::vector<Curve> drawn;
    for (const MeasuredCurve& curve : curves) {
      std::map<std::int64_t, double> points;  // a retried step replaces itself
      for (const v1::Measurement& one : curve.measured.measurements()) {
        const auto found = one.metrics().find(metric);
        if (found != one.metrics().end()) points[one.step()] = found->second;
      }
      if (points.empty()) continue;
      drawn.push_back({.name = TitleOf(curve.trial), .points = {}});
      for (const auto& [step, value] : points) {
        drawn.back().points.emplace_back(static_cast<double>(step), value);
      }
    }
    absl::StrAppend(&text, text.empty() ? "" : "\n", metric, " by step\n",
                    PlotCurves(drawn, width, kPlotLines));
  }
  return text;
}

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

// Returns the wanted metric. It is an error when no trial measured it.
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
