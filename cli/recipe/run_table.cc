// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe/run_table.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/recipe/recipe_stage.h"
#include "cli/report/trial_figures.h"
#include "cli/term/table.h"
#include "cli/view/format.h"
#include "cli/view/svg.h"

namespace frostline::cli {
namespace {

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

// A column of numbers of runs: rounded in the table, in full in CSV.
struct RunColumn {
  std::string name;
  std::vector<double> values;  // a run each
  std::string (*show)(double);
};

std::string Short(double value) {
  return std::isnan(value) ? "" : FormatNumber(value);
}
std::string Millions(double value) {
  if (std::isnan(value)) return "";
  return value < 1e6 ? FormatCount(static_cast<std::int64_t>(value))
                     : absl::StrFormat("%.3g M", value / 1e6);
}
std::string RunPercent(double value) {
  return std::isnan(value) ? "" : absl::StrFormat("%.1f %%", 100.0 * value);
}
std::string Whole(double value) { return absl::StrCat(value); }

double MeanCost(const RunTrials& run, double (*cost)(const v1::Trial&)) {
  std::vector<double> values;
  values.reserve(run.succeeded.size());
  for (const v1::Trial* trial : run.succeeded) values.push_back(cost(*trial));
  return SpreadOf(values).mean;
}

double TrainSecondsOf(const v1::Trial& trial) {
  return trial.usage().train_seconds();
}

// Returns the published value under the metric's own name, or under its name
// without the set: a result on the test set may be published as accuracy.
double PublishedCellsOf(const PublishedStage& published, const std::string& run,
                        const std::string& metric) {
  const auto found = published.runs.find(run);
  if (found == published.runs.end()) return kNotKnown;
  for (const std::string& name :
       {metric, metric.substr(metric.rfind('.') + 1)}) {
    const auto value = found->second.find(name);
    if (value != found->second.end()) return value->second;
  }
  return kNotKnown;
}

template <typename Of>
RunColumn Make(const std::string& name, std::string (*show)(double),
               const std::vector<RunTrials>& runs, Of of) {
  RunColumn column = {name, {}, show};
  for (const RunTrials& run : runs) column.values.push_back(of(run));
  return column;
}

// Returns a column with the seconds that a run saves against the run that it is
// compared with.
RunColumn Saved(const StudyRecord& record, const std::vector<RunTrials>& runs) {
  const std::string to = LabelOf(record, kRecipeCompareLabel);
  double whole = kNotKnown;
  for (const RunTrials& run : runs) {
    if (run.name == to) whole = MeanCost(run, TrainSecondsOf);
  }
  return Make("time saved", RunPercent, runs, [whole](const RunTrials& run) {
    return whole > 0.0 ? 1.0 - MeanCost(run, TrainSecondsOf) / whole
                       : kNotKnown;
  });
}

// Returns the metric of each task, when there are several tasks.
std::vector<std::string> TaskMetrics(const StudyRecord& record,
                                     const std::vector<RunTrials>& runs) {
  std::vector<std::string> metrics;
  for (const v1::TaskSpec& task : record.study.spec().tasks()) {
    for (const char* const name : {"pearson", "accuracy"}) {
      const std::string metric = absl::StrCat(task.name(), ".", name);
      if (!runs.empty() && MetricOf(runs[0], metric).count > 0) {
        metrics.push_back(metric);
        break;
      }
    }
  }
  return metrics;
}

std::vector<RunColumn> RunColumnsOf(const StudyRecord& record,
                                    const std::vector<RunTrials>& runs,
                                    const PublishedStage* published) {
  const std::string metric = MetricOfRuns(record);
  std::vector<RunColumn> columns;
  columns.push_back(Make("seeds", Whole, runs, [](const RunTrials& run) {
    return static_cast<double>(run.succeeded.size());
  }));
  std::vector<std::string> metrics = {FirstObjective(record).metric()};
  if (metric != metrics[0]) metrics.push_back(metric);
  for (const std::string& of_task : TaskMetrics(record, runs)) {
    if (std::count(metrics.begin(), metrics.end(), of_task) == 0) {
      metrics.push_back(of_task);
    }
  }
  for (const std::string& each : metrics) {
    columns.push_back(Make(each, Short, runs, [&each](const RunTrials& run) {
      return MetricOf(run, each).mean;
    }));
    columns.push_back(Make("±", Short, runs, [&each](const RunTrials& run) {
      return MetricOf(run, each).deviation;
    }));
  }
  if (published != nullptr) {
    columns.push_back(Make(absl::StrCat("published ", metric), Short, runs,
                           [published, &metric](const RunTrials& run) {
                             return PublishedCellsOf(*published, run.name,
                                                     metric);
                           }));
  }
  columns.push_back(Make("trained", Millions, runs, [](const RunTrials& run) {
    return MeanCost(run, TrainedParametersOf);
  }));
  columns.push_back(
      Make("train seconds", Short, runs,
           [](const RunTrials& run) { return MeanCost(run, TrainSecondsOf); }));
  columns.push_back(Saved(record, runs));
  // What nobody measured, or published, needs no column.
  std::erase_if(columns, [](const RunColumn& column) {
    return std::all_of(column.values.begin(), column.values.end(),
                       [](double value) { return std::isnan(value); });
  });
  return columns;
}

}  // namespace

Spread SpreadOf(const std::vector<double>& values) {
  Spread spread = {kNotKnown, kNotKnown, values.size()};
  if (values.empty()) return spread;
  double sum = 0.0;
  for (const double value : values) sum += value;
  const double count = static_cast<double>(values.size());
  spread.mean = sum / count;
  if (values.size() < 2) return spread;
  spread.deviation = 0.0;
  // The mean of equal values may be off them by rounding.
  if (std::ranges::count(values, values[0]) == std::ssize(values)) {
    return spread;
  }
  double squares = 0.0;
  for (const double value : values) {
    squares += (value - spread.mean) * (value - spread.mean);
  }
  spread.deviation = std::sqrt(squares / (count - 1.0));
  return spread;
}

std::vector<RunTrials> RunsOf(const StudyRecord& record) {
  std::vector<RunTrials> runs;
  for (const v1::Trial& trial : record.trials.trials()) {
    const auto label = trial.labels().find(kRunLabel);
    if (label == trial.labels().end()) continue;
    auto run = std::find_if(runs.begin(), runs.end(),
                            [&label](const RunTrials& other) {
                              return other.name == label->second;
                            });
    if (run == runs.end()) {
      run = runs.insert(runs.end(), RunTrials{.name = label->second,
                                              .at = std::nullopt,
                                              .succeeded = {}});
      const auto at = trial.labels().find(kRunAtLabel);
      double place = 0.0;
      if (at != trial.labels().end() && absl::SimpleAtod(at->second, &place)) {
        run->at = place;
      }
    }
    ++run->all;
    if (trial.state() == v1::TRIAL_STATE_SUCCEEDED) {
      run->succeeded.push_back(&trial);
    }
  }
  return runs;
}

std::string LabelOf(const StudyRecord& record, const std::string& label) {
  const auto& labels = record.study.settings().labels();
  const auto found = labels.find(label);
  return found == labels.end() ? "" : found->second;
}

std::string MetricOfRuns(const StudyRecord& record) {
  const std::string metric = LabelOf(record, kRecipeMetricLabel);
  return metric.empty() ? FirstObjective(record).metric() : metric;
}

Spread MetricOf(const RunTrials& run, const std::string& metric) {
  std::vector<double> values;
  for (const v1::Trial* trial : run.succeeded) {
    const auto found = trial->metrics().find(metric);
    if (found != trial->metrics().end()) values.push_back(found->second);
  }
  return SpreadOf(values);
}

ReportTable RunTable(const StudyRecord& record, const std::string& name,
                     const PublishedStage* published) {
  const std::vector<RunTrials> runs = RunsOf(record);
  const std::vector<RunColumn> columns = RunColumnsOf(record, runs, published);
  ReportTable table = {name, {"run"}, {}, ""};
  for (const RunColumn& column : columns) table.columns.push_back(column.name);
  table.csv = CsvLine(table.columns);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::vector<std::string> shown = {runs[i].name};
    std::vector<std::string> full = {runs[i].name};
    for (const RunColumn& column : columns) {
      shown.push_back(column.show(column.values[i]));
      full.push_back(CsvNumber(column.values[i]));
    }
    table.rows.push_back(std::move(shown));
    table.csv += CsvLine(full);
  }
  return table;
}

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

// Returns for each run the curve of the first trial that has one.
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

// Returns the heights of the curves' names: beside their ends and not on top of
// each other.
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
