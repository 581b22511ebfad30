// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe/run_figures.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/recipe/recipe_stage.h"
#include "cli/report/plot.h"
#include "cli/view/svg.h"

namespace frostline::cli {
namespace {

constexpr double kRoomForNames = 190.0;  // right of the curves
constexpr double kLineHeight = 14.0;

const RunTrials* FindRun(const std::vector<RunTrials>& runs,
                         const std::string& name) {
  const auto found =
      std::find_if(runs.begin(), runs.end(),
                   [&name](const RunTrials& run) { return run.name == name; });
  return found == runs.end() ? nullptr : &*found;
}

double StandardError(const Spread& spread) {
  return spread.deviation / std::sqrt(static_cast<double>(spread.count));
}

struct RunCurve {
  std::string name;
  Svg::Points points;
};

// Of the first trial that brought one.
std::vector<RunCurve> CurvesOfRuns(const StudyRecord& record,
                                   const std::string& metric) {
  std::vector<RunCurve> curves;
  for (const RunTrials& run : RunsOf(record)) {
    if (run.succeeded.empty()) continue;
    const auto told = record.curves.find(run.succeeded[0]->number());
    if (told == record.curves.end()) continue;
    RunCurve curve = {run.name, {}};
    for (const v1::Measurement& one : told->second.measurements()) {
      const auto value = one.metrics().find(metric);
      if (value == one.metrics().end()) continue;
      curve.points.emplace_back(static_cast<double>(one.step()), value->second);
    }
    if (curve.points.size() > 1) curves.push_back(std::move(curve));
  }
  return curves;
}

// Where the curves' names stand: beside their ends, none upon another.
std::vector<double> NameHeights(const std::vector<double>& ends) {
  std::vector<std::size_t> order(ends.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&ends](std::size_t a, std::size_t b) {
    return ends[a] < ends[b];
  });
  std::vector<double> heights(ends.size());
  double free = kPlotTop;
  for (const std::size_t i : order) {
    heights[i] = std::max(ends[i], free);
    free = heights[i] + kLineHeight;
  }
  return heights;
}

}  // namespace

std::vector<RelativeScore> RelativeScores(const StudyRecord& record) {
  const std::vector<RunTrials> runs = RunsOf(record);
  const RunTrials* const to =
      FindRun(runs, LabelOf(record, kRecipeCompareLabel));
  std::vector<RelativeScore> scores;
  if (to == nullptr) return scores;
  const std::string metric = MetricOfRuns(record);
  const double whole = MetricOf(*to, metric).mean;
  if (!(whole > 0.0)) return scores;
  for (const RunTrials& run : runs) {
    const Spread spread = MetricOf(run, metric);
    if (!run.at || std::isnan(spread.mean)) continue;
    scores.push_back({run.name, *run.at, spread.mean / whole,
                      StandardError(spread) / whole});
  }
  std::stable_sort(scores.begin(), scores.end(),
                   [](const RelativeScore& a, const RelativeScore& b) {
                     return a.at < b.at;
                   });
  return scores;
}

std::optional<RelativeScore> FurthestThatKeeps(
    const std::vector<RelativeScore>& scores, double share) {
  for (auto score = scores.rbegin(); score != scores.rend(); ++score) {
    if (score->share >= share) return *score;
  }
  return std::nullopt;
}

std::string RelativeScoreSvg(const StudyRecord& record) {
  const std::vector<RelativeScore> scores = RelativeScores(record);
  if (scores.size() < 2) return "";
  PlotAxis across, up;
  for (const RelativeScore& score : scores) {
    const double error = std::isnan(score.error) ? 0.0 : score.error;
    across.Show(score.at);
    up.Show(score.share - error);
    up.Show(score.share + error);
  }
  const std::string metric = MetricOfRuns(record);
  const std::string title = absl::StrCat(
      metric, " as a share of '", LabelOf(record, kRecipeCompareLabel), "'");
  Svg svg(kPictureWidth, kPictureHeight, title);
  svg.Text(16, 26, title, "title");
  svg.Text(16, 44, "Mean over seeds with its standard error", "small");
  Plot plot(svg, kPlotLeft, kPlotTop, kPictureWidth - kPlotLeft - 40,
            kPlotHeight, across, up);
  plot.DrawFrame("", "share");
  Svg::Points line;
  for (const RelativeScore& score : scores) {
    const double x = plot.X(score.at);
    line.emplace_back(x, plot.Y(score.share));
    if (!std::isnan(score.error)) {
      svg.Line(x, plot.Y(score.share - score.error), x,
               plot.Y(score.share + score.error), "thick");
    }
    svg.Dot(x, plot.Y(score.share), "best");
    svg.Text(x, kPlotTop + kPlotHeight + 32, score.run, "small middle");
  }
  svg.Path(line, "line", false);
  return svg.Finish();
}

std::string RunCurvesSvg(const StudyRecord& record) {
  const std::string metric = LabelOf(record, kRecipeCurveLabel);
  if (metric.empty()) return "";
  const std::vector<RunCurve> curves = CurvesOfRuns(record, metric);
  if (curves.empty()) return "";
  PlotAxis across, up;
  for (const RunCurve& curve : curves) {
    for (const auto& [step, value] : curve.points) {
      across.Show(step);
      up.Show(value);
    }
  }
  const std::string title = absl::StrCat("How ", metric, " came about");
  Svg svg(kPictureWidth, kPictureHeight, title);
  svg.Text(16, 26, title, "title");
  svg.Text(16, 44, "The first trial of each run, by step", "small");
  Plot plot(svg, kPlotLeft, kPlotTop, kPictureWidth - kPlotLeft - kRoomForNames,
            kPlotHeight, across, up);
  plot.DrawFrame("step", metric);
  std::vector<double> ends;
  for (const RunCurve& curve : curves) {
    Svg::Points drawn;
    for (const auto& [step, value] : curve.points) {
      drawn.emplace_back(plot.X(step), plot.Y(value));
    }
    svg.Path(drawn, "curve", false);
    ends.push_back(drawn.back().second);
  }
  const std::vector<double> heights = NameHeights(ends);
  for (std::size_t i = 0; i < curves.size(); ++i) {
    svg.Text(kPictureWidth - kRoomForNames + 8, heights[i] + 4, curves[i].name,
             "small");
  }
  return svg.Finish();
}

}  // namespace frostline::cli
