// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe/run_table.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
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
  std::vector<double> errors = {};  // beside the values; none: it has none
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
std::string Whole(double value) {
  return std::isnan(value) ? "" : absl::StrCat(value);
}

// Returns "0.9571 ± 0.0008": the value to the place of its error's first digit.
std::string WithError(double value, double error, std::string (*show)(double)) {
  const std::string plain = show(value);
  if (plain.empty() || std::isnan(error)) return plain;
  if (show == &RunPercent) {
    return absl::StrFormat("%s ± %.1f", plain, 100.0 * error);
  }
  if (!(error > 0.0) || error >= 1.0) {
    return absl::StrCat(plain, " ± ", FormatNumber(error));
  }
  const int places =
      std::min(6, static_cast<int>(-std::floor(std::log10(error))));
  return absl::StrFormat("%.*f ± %.*f", places, value, places, error);
}

double TrainSecondsOf(const v1::Trial& trial) {
  return trial.usage().train_seconds();
}
double ProcessorSecondsOf(const v1::Trial& trial) {
  return trial.usage().processor_seconds();
}

Spread CostOf(const RunTrials& run, double (*cost)(const v1::Trial&)) {
  std::vector<double> values;
  values.reserve(run.succeeded.size());
  for (const v1::Trial* trial : run.succeeded) values.push_back(cost(*trial));
  return SpreadOf(values);
}

double StandardError(const Spread& spread) {
  return spread.deviation / std::sqrt(static_cast<double>(spread.count));
}

// Names under which a result may have been published: a result on the test set
// as "accuracy", the share of the time that was saved as "seconds_saved".
std::vector<std::string> NamesOf(const std::string& metric) {
  return {metric, metric.substr(metric.rfind('.') + 1)};
}

// Published results of runs, each taken once.
class Theirs {
 public:
  explicit Theirs(const PublishedStage* published) : published_(published) {}

  // Returns the published column of this metric for the runs, if there is one.
  std::optional<RunColumn> Take(const std::string& metric,
                                const std::vector<std::string>& runs,
                                std::string (*show)(double)) {
    if (published_ == nullptr) return std::nullopt;
    for (const std::string& name : NamesOf(metric)) {
      RunColumn column = {"their " + PeoplesName(name), {}, show};
      for (const std::string& run : runs) {
        column.values.push_back(ValueOf(run, name));
      }
      if (std::ranges::all_of(column.values,
                              [](double one) { return std::isnan(one); })) {
        continue;
      }
      taken_.insert(name);
      return column;
    }
    return std::nullopt;
  }

  // Returns the metrics that no column has taken.
  std::vector<std::string> Left() const {
    std::set<std::string> left;
    if (published_ == nullptr) return {};
    for (const auto& [run, metrics] : published_->runs) {
      for (const auto& [metric, value] : metrics) {
        if (!taken_.contains(metric)) left.insert(metric);
      }
    }
    return {left.begin(), left.end()};
  }

  // Returns `runs` and the runs that were published alone.
  std::vector<std::string> WithMine(std::vector<std::string> runs) const {
    if (published_ == nullptr) return runs;
    for (const auto& [run, metrics] : published_->runs) {
      if (std::count(runs.begin(), runs.end(), run) == 0) runs.push_back(run);
    }
    return runs;
  }

 private:
  double ValueOf(const std::string& run, const std::string& metric) const {
    const auto found = published_->runs.find(run);
    if (found == published_->runs.end()) return kNotKnown;
    const auto value = found->second.find(metric);
    return value == found->second.end() ? kNotKnown : value->second;
  }

  const PublishedStage* published_;
  std::set<std::string> taken_;
};

template <typename Of>
RunColumn Make(const std::string& name, std::string (*show)(double),
               const std::vector<RunTrials>& runs, Of of) {
  RunColumn column = {name, {}, show};
  for (const RunTrials& run : runs) column.values.push_back(of(run));
  return column;
}

RunColumn SavedColumn(const StudyRecord& record) {
  RunColumn column = {
      CountsProcessor(record) ? "processor time saved" : "time saved",
      {},
      RunPercent};
  for (const TimeSaved& saved : TimeSavedBy(record)) {
    column.values.push_back(saved.share);
    column.errors.push_back(saved.error);
  }
  return column;
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

// Returns the metrics of a table: the objective, what runs are compared by, and
// each task's.
std::vector<std::string> MetricsOfTable(const StudyRecord& record,
                                        const std::vector<RunTrials>& runs) {
  std::vector<std::string> metrics = {FirstObjective(record).metric()};
  std::vector<std::string> more = TaskMetrics(record, runs);
  more.insert(more.begin(), MetricOfRuns(record));
  for (const std::string& metric : more) {
    if (std::count(metrics.begin(), metrics.end(), metric) == 0) {
      metrics.push_back(metric);
    }
  }
  return metrics;
}

std::vector<RunColumn> RunColumnsOf(const StudyRecord& record,
                                    const std::vector<RunTrials>& runs,
                                    const std::vector<std::string>& rows,
                                    Theirs& theirs) {
  std::vector<RunColumn> columns;
  const auto add = [&](RunColumn column, const std::string& published) {
    std::string (*const show)(double) = column.show;
    columns.push_back(std::move(column));
    if (published.empty()) return;
    if (auto beside = theirs.Take(published, rows, show)) {
      columns.push_back(*std::move(beside));
    }
  };
  add(Make("seeds", Whole, runs,
           [](const RunTrials& run) {
             return static_cast<double>(run.succeeded.size());
           }),
      "");
  // What was published as "accuracy" stands beside the test set's where runs
  // are compared by that one.
  std::vector<std::string> metrics = MetricsOfTable(record, runs);
  const std::string compared = MetricOfRuns(record);
  for (const std::string& metric : metrics) {
    RunColumn column = Make(
        PeoplesName(metric), Short, runs,
        [&metric](const RunTrials& run) { return MetricOf(run, metric).mean; });
    for (const RunTrials& run : runs) {
      column.errors.push_back(MetricOf(run, metric).deviation);
    }
    const bool is_taken_later =
        metric != compared && NamesOf(compared)[1] == metric;
    add(std::move(column), is_taken_later ? "" : metric);
  }
  add(Make("trained weights", Millions, runs,
           [](const RunTrials& run) {
             return CostOf(run, TrainedParametersOf).mean;
           }),
      "trained_parameters");
  add(Make("train seconds", Short, runs,
           [](const RunTrials& run) {
             return CostOf(run, TrainSecondsOf).mean;
           }),
      "train_seconds");
  add(SavedColumn(record), "seconds_saved");
  for (const std::string& metric : theirs.Left()) {
    if (auto column = theirs.Take(metric, rows, Short)) {
      columns.push_back(*std::move(column));
    }
  }
  // What nobody measured needs no column.
  std::erase_if(columns, [](const RunColumn& column) {
    return std::all_of(column.values.begin(), column.values.end(),
                       [](double value) { return std::isnan(value); });
  });
  return columns;
}

const RunTrials* FindRun(const std::vector<RunTrials>& runs,
                         const std::string& name) {
  const auto found =
      std::find_if(runs.begin(), runs.end(),
                   [&name](const RunTrials& run) { return run.name == name; });
  return found == runs.end() ? nullptr : &*found;
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
      const auto line = trial.labels().find(kRunLineLabel);
      if (line != trial.labels().end()) run->line = line->second;
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

std::string PeoplesName(const std::string& metric) {
  if (metric == "seconds_saved") return "time saved";
  if (metric == "trained_parameters") return "trained weights";
  return absl::StrReplaceAll(metric, {{"_", " "}, {".", " "}});
}

bool CountsProcessor(const StudyRecord& record) {
  bool has_any = false;
  for (const RunTrials& run : RunsOf(record)) {
    for (const v1::Trial* trial : run.succeeded) {
      const v1::Usage& usage = trial->usage();
      if (usage.device() != "cpu" || !(usage.processor_seconds() > 0.0)) {
        return false;
      }
      has_any = true;
    }
  }
  return has_any;
}

std::vector<TimeSaved> TimeSavedBy(const StudyRecord& record) {
  const std::vector<RunTrials> runs = RunsOf(record);
  const auto cost =
      CountsProcessor(record) ? ProcessorSecondsOf : TrainSecondsOf;
  const RunTrials* const to =
      FindRun(runs, LabelOf(record, kRecipeCompareLabel));
  const Spread whole =
      to == nullptr ? Spread{kNotKnown, kNotKnown, 0} : CostOf(*to, cost);
  std::vector<TimeSaved> saved;
  for (const RunTrials& run : runs) {
    const Spread own = CostOf(run, cost);
    const double left = whole.mean > 0.0 ? own.mean / whole.mean : kNotKnown;
    // Of a quotient of two means: the relative errors add in squares.
    const double first = StandardError(own) / own.mean;
    const double second = StandardError(whole) / whole.mean;
    const double error =
        &run == to ? kNotKnown
                   : left * std::sqrt(first * first + second * second);
    saved.push_back({1.0 - left, error});
  }
  return saved;
}

std::string TimeDoubt(const StudyRecord& record) {
  constexpr double kBusy =
      1.25;  // a trial waited a quarter longer than another
  constexpr double kShortest = 1.0;  // seconds; shorter ones tell nothing
  const bool by_processor = CountsProcessor(record);
  double least = std::numeric_limits<double>::infinity();
  double most = 0.0;
  for (const RunTrials& run : RunsOf(record)) {
    std::vector<double> ratios;
    for (const v1::Trial* trial : run.succeeded) {
      const v1::Usage& usage = trial->usage();
      // Seeds that take what another computed are shorter for that.
      if (usage.prefix_hits() + usage.prefix_misses() > 0 && !by_processor) {
        continue;
      }
      if (usage.train_seconds() < kShortest) continue;
      ratios.push_back(by_processor
                           ? usage.train_seconds() / usage.processor_seconds()
                           : usage.train_seconds());
    }
    if (ratios.empty()) continue;
    const auto [lo, hi] = std::ranges::minmax(ratios);
    if (by_processor) {
      least = std::min(least, lo);
      most = std::max(most, hi);
    } else if (hi > kBusy * lo) {
      return absl::StrFormat(
          "Times are in doubt: seeds of '%s' took between %s and %s seconds by "
          "the clock, as on a machine that does other work besides.",
          run.name, FormatNumber(lo), FormatNumber(hi));
    }
  }
  if (!by_processor || !(most > kBusy * least)) return "";
  return absl::StrFormat(
      "Seconds by the clock are in doubt, the machine was busy with other work "
      "in some trials (%.2f to %.2f seconds for each of the processor's); time "
      "saved is of processor time, which that touches little.",
      least, most);
}

ReportTable RunTable(const StudyRecord& record, const std::string& name,
                     const PublishedStage* published) {
  const std::vector<RunTrials> runs = RunsOf(record);
  Theirs theirs(published);
  std::vector<std::string> rows;
  for (const RunTrials& run : runs) rows.push_back(run.name);
  rows = theirs.WithMine(std::move(rows));
  std::vector<RunColumn> columns = RunColumnsOf(record, runs, rows, theirs);
  ReportTable table = {name, {"run"}, {}, ""};
  std::vector<std::string> heads = {"run"};
  for (RunColumn& column : columns) {
    column.values.resize(rows.size(), kNotKnown);
    const bool has_errors = !column.errors.empty();
    if (has_errors) column.errors.resize(rows.size(), kNotKnown);
    table.columns.push_back(column.name);
    heads.push_back(column.name);
    if (has_errors) heads.push_back(column.name + " ±");
  }
  table.csv = CsvLine(heads);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<std::string> shown = {rows[i]};
    std::vector<std::string> full = {rows[i]};
    for (const RunColumn& column : columns) {
      const bool has_errors = !column.errors.empty();
      shown.push_back(WithError(column.values[i],
                                has_errors ? column.errors[i] : kNotKnown,
                                column.show));
      full.push_back(CsvNumber(column.values[i]));
      if (has_errors) full.push_back(CsvNumber(column.errors[i]));
    }
    table.rows.push_back(std::move(shown));
    table.csv += CsvLine(full);
  }
  return table;
}

namespace {

constexpr double kRoomForNames = 250.0;  // right of a plot
constexpr double kLineHeight = 15.0;
constexpr double kSample = 26.0;  // of a line, before its name
constexpr int kNameWidth = 34;    // columns

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

// Returns the height of a picture with a name for each of so many lines.
double HeightFor(std::size_t names) {
  return std::max(kPictureHeight,
                  kPlotTop + 24.0 + kLineHeight * static_cast<double>(names));
}

// Draws the names of lines or dots right of a plot, below each other.
class NameList {
 public:
  explicit NameList(Svg& svg) : svg_(svg) {}

  void AddLine(const std::string& name, std::size_t series) {
    svg_.Series({{kLeft, y_ - 4}, {kLeft + kSample - 6, y_ - 4}}, series);
    Write(name);
  }
  void AddDot(const std::string& mark, const std::string& name) {
    svg_.Text(kLeft + kSample - 18, y_, mark, "small");
    Write(name);
  }

 private:
  static constexpr double kLeft = kPictureWidth - kRoomForNames + 12;

  void Write(const std::string& name) {
    svg_.Text(kLeft + kSample, y_, FitToWidth(name, kNameWidth), "small");
    y_ += kLineHeight;
  }

  Svg& svg_;
  double y_ = kPlotTop + 4;
};

// Returns the places of the scores by the line that joins them. The run that
// the others are compared with begins every line. Where no run says its line,
// all are one; else a run without one stands alone.
std::map<std::string, std::vector<std::size_t>> LinesOf(
    const std::vector<RelativeScore>& scores, const std::string& to) {
  std::map<std::string, std::vector<std::size_t>> lines;
  const bool has_lines = std::ranges::any_of(
      scores, [](const RelativeScore& score) { return !score.line.empty(); });
  for (const RelativeScore& score : scores) {
    if (!has_lines || !score.line.empty()) lines[score.line];
  }
  for (auto& [name, places] : lines) {
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const bool is_first = scores[i].run == to && scores[i].line.empty();
      if (scores[i].line == name || is_first) places.push_back(i);
    }
  }
  return lines;
}

}  // namespace

std::string MarkOf(std::size_t i) {
  const std::string letter(1, static_cast<char>('a' + i % 26));
  return i < 26 ? letter : absl::StrCat(letter, i / 26 + 1);
}

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
                      StandardError(spread) / whole, run.line});
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
  const auto lines = LinesOf(scores, LabelOf(record, kRecipeCompareLabel));
  Svg svg(kPictureWidth, HeightFor(scores.size() + lines.size()), title);
  svg.Text(16, 26, title, "title");
  svg.Text(16, 44, "Mean over seeds with its standard error", "small");
  Plot plot(svg, kPlotLeft, kPlotTop, kPictureWidth - kPlotLeft - kRoomForNames,
            kPlotHeight, across, up);
  plot.DrawFrame("", "share");
  NameList names(svg);
  std::size_t series = 0;
  for (const auto& [name, places] : lines) {
    Svg::Points drawn;
    for (const std::size_t i : places) {
      drawn.emplace_back(plot.X(scores[i].at), plot.Y(scores[i].share));
    }
    svg.Series(drawn, series);
    if (!name.empty()) names.AddLine(name, series);
    ++series;
  }
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const RelativeScore& score = scores[i];
    const double x = plot.X(score.at);
    const double y = plot.Y(score.share);
    if (!std::isnan(score.error)) {
      svg.Line(x, plot.Y(score.share - score.error), x,
               plot.Y(score.share + score.error), "thick");
    }
    svg.Dot(x, y, "best");
    // Letters of runs at one place and of one score stand beside each other.
    double beside = 7.0;
    for (std::size_t j = 0; j < i; ++j) {
      const bool is_near = std::abs(plot.X(scores[j].at) - x) < 8.0 &&
                           std::abs(plot.Y(scores[j].share) - y) < 10.0;
      if (is_near) beside += 9.0;
    }
    svg.Text(x + beside, y - 5, MarkOf(i), "small");
    names.AddDot(MarkOf(i), score.run);
  }
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
  Svg svg(kPictureWidth, HeightFor(curves.size()), title);
  svg.Text(16, 26, title, "title");
  svg.Text(16, 44, "The first trial of each run, by step", "small");
  Plot plot(svg, kPlotLeft, kPlotTop, kPictureWidth - kPlotLeft - kRoomForNames,
            kPlotHeight, across, up);
  plot.DrawFrame("step", metric);
  NameList names(svg);
  for (std::size_t i = 0; i < curves.size(); ++i) {
    Svg::Points drawn;
    for (const auto& [step, value] : curves[i].points) {
      drawn.emplace_back(plot.X(step), plot.Y(value));
    }
    svg.Series(drawn, i);
    names.AddLine(curves[i].name, i);
  }
  return svg.Finish();
}

}  // namespace frostline::cli
