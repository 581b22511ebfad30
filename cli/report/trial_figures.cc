// SPDX-License-Identifier: Apache-2.0
#include "cli/report/trial_figures.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "cli/term/table.h"
#include "cli/view/format.h"
#include "cli/view/importance_view.h"
#include "cli/view/plan_view.h"
#include "cli/view/svg.h"
#include "cli/view/trial_view.h"
#include "frostline/v1/study_service.grpc.pb.h"
#include "statistics/seed_luck.h"

namespace frostline::cli {
namespace {

using Values = std::map<std::string, std::string>;

std::string KeyOf(const Values& values) {
  std::string key;
  for (const auto& [name, value] : values) {
    absl::StrAppend(&key, name, "=", value, "\n");
  }
  return key;
}

}  // namespace

std::string PointKeyOf(const v1::Trial& trial) {
  Values values;
  for (const v1::ParameterValue& value : trial.parameters()) {
    values[value.name()] = value.value().SerializeAsString();
  }
  return KeyOf(values);
}

std::string PointKeyOf(const v1::EnqueuedTrial& enqueued) {
  Values values;
  for (const auto& [name, value] : enqueued.values()) {
    values[name] = value.SerializeAsString();
  }
  return KeyOf(values);
}

namespace {

using Studies = v1::StudyService::Stub;

double MeanOf(const std::vector<v1::Trial>& trials) {
  double sum = 0.0;
  for (const v1::Trial& trial : trials) sum += trial.values(0);
  return sum / static_cast<double>(trials.size());
}

void Judge(std::vector<RankedPoint>& points) {
  std::vector<statistics::PointRun> runs;
  for (std::size_t p = 0; p < points.size(); ++p) {
    points[p].mean = MeanOf(points[p].trials);
    for (const v1::Trial& trial : points[p].trials) {
      runs.push_back({p, trial.seed(), trial.values(0)});
    }
  }
  const auto judged = statistics::JudgePoints(points.size(), runs);
  for (std::size_t p = 0; p < points.size(); ++p) {
    points[p].judged = judged[p];
  }
}

}  // namespace

std::vector<RankedPoint> RankPoints(const v1::Study& study,
                                    const std::vector<v1::Trial>& trials) {
  std::vector<std::string> keys;
  std::vector<RankedPoint> points;
  for (const v1::Trial& trial : trials) {
    if (trial.state() != v1::TRIAL_STATE_SUCCEEDED || trial.values().empty()) {
      continue;
    }
    const std::string key = PointKeyOf(trial);
    const auto found = std::find(keys.begin(), keys.end(), key);
    const auto place = static_cast<std::size_t>(found - keys.begin());
    if (found == keys.end()) {
      keys.push_back(key);
      points.emplace_back();
    }
    points[place].trials.push_back(trial);
  }
  Judge(points);
  const bool smaller_is_better =
      study.spec().objectives_size() > 0 &&
      study.spec().objectives(0).direction() == v1::DIRECTION_MINIMIZE;
  std::stable_sort(
      points.begin(), points.end(),
      [smaller_is_better](const RankedPoint& a, const RankedPoint& b) {
        return smaller_is_better ? a.judged < b.judged : a.judged > b.judged;
      });
  return points;
}

absl::StatusOr<std::vector<RankedPoint>> FetchRankedPoints(
    Client& client, const std::string& study) {
  ASSIGN_OR_RETURN(const v1::Study found, FetchStudy(client, study));
  ASSIGN_OR_RETURN(const v1::ListTrialsReply reply,
                   FetchTrials(client, study, "", v1::TRIAL_VIEW_FULL));
  return RankPoints(found, {reply.trials().begin(), reply.trials().end()});
}

const v1::Objective& FirstObjective(const StudyRecord& record) {
  static const v1::Objective kNone;
  const v1::StudySpec& spec = record.study.spec();
  return spec.objectives().empty() ? kNone : spec.objectives(0);
}

bool IsBetter(const v1::Objective& objective, double a, double b) {
  return objective.direction() == v1::DIRECTION_MINIMIZE ? a < b : a > b;
}

std::vector<const v1::Trial*> ByScore(const StudyRecord& record) {
  std::vector<const v1::Trial*> trials;
  for (const v1::Trial& trial : record.trials.trials()) {
    if (trial.state() == v1::TRIAL_STATE_SUCCEEDED && !trial.values().empty()) {
      trials.push_back(&trial);
    }
  }
  const v1::Objective& objective = FirstObjective(record);
  std::stable_sort(trials.begin(), trials.end(),
                   [&objective](const v1::Trial* a, const v1::Trial* b) {
                     return IsBetter(objective, a->values(0), b->values(0));
                   });
  return trials;
}

std::string BestTrialSentence(const StudyRecord& record) {
  const auto trials = ByScore(record);
  if (trials.empty()) return "";
  const v1::Trial& best = *trials[0];
  const std::string point = PointKeyOf(best);
  double sum = 0.0;
  int runs = 0;
  for (const v1::Trial* const trial : trials) {
    if (PointKeyOf(*trial) != point) continue;
    sum += trial->values(0);
    ++runs;
  }
  const std::string seen =
      absl::StrCat("Best trial: ", best.number(), ", ",
                   ObjectiveText(best, record.study.spec()));
  if (runs == 1) return absl::StrCat(seen, ", as it was seen in one run.");
  return absl::StrCat(seen, " in one run; its point was run ", runs,
                      " times, with a mean ", FirstObjective(record).metric(),
                      " of ", FormatNumber(sum / runs), ".");
}

std::vector<const v1::Trial*> FrontBy(
    const std::vector<const v1::Trial*>& trials, const v1::Objective& objective,
    double (*cost)(const v1::Trial&)) {
  std::vector<const v1::Trial*> by_cost = trials;
  std::stable_sort(by_cost.begin(), by_cost.end(),
                   [cost](const v1::Trial* a, const v1::Trial* b) {
                     return cost(*a) < cost(*b);
                   });
  std::vector<const v1::Trial*> front;
  for (const v1::Trial* trial : by_cost) {
    if (!front.empty() && cost(*front.back()) == cost(*trial)) {
      // Among trials of equal cost only the best counts.
      if (IsBetter(objective, trial->values(0), front.back()->values(0))) {
        front.back() = trial;
      }
    } else if (front.empty() ||
               IsBetter(objective, trial->values(0), front.back()->values(0))) {
      front.push_back(trial);
    }
  }
  return front;
}

double TrainedParametersOf(const v1::Trial& trial) {
  return static_cast<double>(trial.usage().trained_parameters());
}

double SecondsOfTrial(const v1::Trial& trial) {
  return trial.usage().total_seconds();
}

const v1::ModuleRate* RateOf(const v1::Trial& trial,
                             const std::string& module) {
  const auto found = std::find_if(trial.rates().begin(), trial.rates().end(),
                                  [&module](const v1::ModuleRate& rate) {
                                    return rate.module() == module;
                                  });
  return found == trial.rates().end() ? nullptr : &*found;
}

namespace {

// A page has room for this many columns of rates; the CSV has all of them.
constexpr std::size_t kMostModulesShown = 24;

using Cells = std::vector<std::string>;

// Returns the modules in the order of the trial that has most of them.
std::vector<std::string> ModulesOf(const StudyRecord& record) {
  const v1::Trial* widest = nullptr;
  for (const v1::Trial& trial : record.trials.trials()) {
    if (widest == nullptr || trial.rates_size() > widest->rates_size()) {
      widest = &trial;
    }
  }
  std::vector<std::string> modules;
  if (widest == nullptr) return modules;
  for (const v1::ModuleRate& rate : widest->rates()) {
    modules.push_back(rate.module());
  }
  return modules;
}

Cells TrialCells(const v1::Trial& trial, int objectives,
                 const std::vector<std::string>& modules, bool full) {
  const auto number = [full](double value) {
    return full ? CsvNumber(value) : FormatNumber(value);
  };
  Cells cells = {absl::StrCat(trial.number()), NameOf(trial.state())};
  for (int i = 0; i < objectives; ++i) {
    cells.push_back(i < trial.values_size() ? number(trial.values(i)) : "");
  }
  const v1::Usage& usage = trial.usage();
  cells.push_back(usage.trained_parameters() > 0
                      ? (full ? absl::StrCat(usage.trained_parameters())
                              : FormatCount(usage.trained_parameters()))
                      : "");
  cells.push_back(usage.total_seconds() > 0.0 ? number(usage.total_seconds())
                                              : "");
  cells.push_back(trial.seed() == 0 ? "" : absl::StrCat(trial.seed()));
  for (const std::string& module : modules) {
    const v1::ModuleRate* const rate = RateOf(trial, module);
    cells.push_back(rate == nullptr ? ""
                    : full          ? CsvNumber(rate->rate())
                                    : FormatTrained(*rate));
  }
  return cells;
}

// Returns "41 of 80".
std::string FrozenText(const v1::Trial& trial) {
  const auto frozen =
      std::count_if(trial.rates().begin(), trial.rates().end(),
                    [](const auto& rate) { return rate.rate() == 0.0; });
  return trial.rates().empty()
             ? ""
             : absl::StrCat(frozen, " of ", trial.rates_size());
}

}  // namespace

ReportTable PlanTable(const v1::FreezePlan& plan) {
  ReportTable table = {"plan",
                       {"module", "rate", "advice", "freezing costs", "why"},
                       {},
                       PlanCsv(plan)};
  for (const v1::PlannedModule& module : plan.modules()) {
    table.rows.push_back(
        {module.module(), FormatTrained(module), AdviceText(module),
         WithInterval(module.cost_of_freezing()), module.reason()});
  }
  return table;
}

ReportTable ImportanceTable(const v1::ImportanceReport& report) {
  ReportTable table = {"importance",
                       {"module or parameter", "alone", "80 %",
                        "with all interactions", "among the first three"},
                       {},
                       ImportanceCsv(report)};
  for (const v1::ParameterImportance& row : report.parameters()) {
    table.rows.push_back({row.parameter(), Percent(row.main().value()),
                          PercentInterval(row.main()),
                          Percent(row.total().value()),
                          Probability(row.top3_probability())});
  }
  return table;
}

ReportTable FrontierTable(const v1::Frontier& frontier) {
  ReportTable table = {"frontier",
                       {"trained", "modules", "predicted",
                        "within the tolerance", "trained parameters"},
                       {},
                       FrontierCsv(frontier)};
  for (const v1::FrontierSet& set : frontier.by_modules()) {
    table.rows.push_back(
        {absl::StrCat(set.trained_size()),
         ModuleList({set.trained().begin(), set.trained().end()}),
         WithInterval(set.predicted()),
         Probability(set.within_tolerance_probability()),
         CountOrDash(set.trained_parameters())});
  }
  return table;
}

ReportTable TrialsTable(const StudyRecord& record) {
  const std::vector<std::string> modules = ModulesOf(record);
  ReportTable table;
  table.name = "trials";
  table.columns = {"trial", "state"};
  const int objectives = record.study.spec().objectives_size();
  for (const v1::Objective& objective : record.study.spec().objectives()) {
    table.columns.push_back(objective.metric());
  }
  table.columns.insert(table.columns.end(),
                       {"trained parameters", "seconds", "seed"});
  std::vector<std::string> all_columns = table.columns;
  all_columns.insert(all_columns.end(), modules.begin(), modules.end());
  table.csv = CsvLine(all_columns);
  const bool shows_rates = modules.size() <= kMostModulesShown;
  if (shows_rates) {
    table.columns = all_columns;
  } else {
    table.columns.push_back("modules frozen");
  }
  for (const v1::Trial& trial : record.trials.trials()) {
    const auto& shown = shows_rates ? modules : std::vector<std::string>();
    table.rows.push_back(TrialCells(trial, objectives, shown, false));
    if (!shows_rates) table.rows.back().push_back(FrozenText(trial));
    table.csv += CsvLine(TrialCells(trial, objectives, modules, true));
  }
  return table;
}

ReportTable FreezingTable(const StudyRecord& record) {
  ReportTable table;
  table.name = "freezing";
  table.columns = {"module",  "rate",      "moved",   "could move", "gradient",
                   "weights", "gradients", "moments", "activations"};
  const std::vector<const v1::Trial*> best = ByScore(record);
  if (best.empty()) return table;
  std::vector<std::string> names = table.columns;
  table.csv = CsvLine(names);
  const auto share = [](double part) {
    return part == 0.0 ? "" : FormatNumber(100.0 * part) + " %";
  };
  const auto memory = [](std::int64_t bytes) {
    return bytes == 0 ? "" : FormatBytes(bytes);
  };
  for (const v1::ModuleAudit& row : best.front()->usage().audit()) {
    const std::string gradient = row.had_gradient() ? "yes" : "no";
    table.rows.push_back(
        {row.module(), row.rate() == 0.0 ? "frozen" : FormatRate(row.rate()),
         share(row.moved()), share(row.could_move()), gradient,
         memory(row.weight_bytes()), memory(row.gradient_bytes()),
         memory(row.moment_bytes()), memory(row.activation_bytes())});
    table.csv += CsvLine({row.module(), CsvNumber(row.rate()),
                          CsvNumber(row.moved()), CsvNumber(row.could_move()),
                          gradient, absl::StrCat(row.weight_bytes()),
                          absl::StrCat(row.gradient_bytes()),
                          absl::StrCat(row.moment_bytes()),
                          absl::StrCat(row.activation_bytes())});
  }
  return table;
}

namespace {

constexpr double kGridLines = 4.0;

double RoundStep(double span) {
  const double rough = span / kGridLines;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10.0 * power;
}

// Returns a number of parameters as "22,571,921", not 2.257e+07.
std::string EndText(double value) {
  const bool is_count = std::abs(value) >= 1e4 && value == std::round(value);
  return is_count ? FormatCount(std::llround(value)) : FormatNumber(value);
}

}  // namespace

void PlotAxis::Show(double value) {
  if (!std::isfinite(value)) return;
  lo_ = std::min(lo_, value);
  hi_ = std::max(hi_, value);
}

double PlotAxis::ShareOf(double value) const {
  return hi_ > lo_ ? (value - lo_) / (hi_ - lo_) : 0.5;
}

double PlotAxis::RoundEnds() {
  if (!(hi_ > lo_)) return 0.0;
  const double step = RoundStep(hi_ - lo_);
  constexpr double kRounding = 1e-9;  // an end that is a multiple stays
  lo_ = step * std::floor(lo_ / step + kRounding);
  hi_ = step * std::ceil(hi_ / step - kRounding);
  return step;
}

Plot::Plot(Svg& svg, double x, double y, double width, double height,
           const PlotAxis& across, const PlotAxis& up)
    : svg_(svg),
      x_(x),
      y_(y),
      width_(width),
      height_(height),
      across_(across),
      up_(up),
      step_up_(up_.RoundEnds()) {}

double Plot::X(double value) const {
  return x_ + width_ * across_.ShareOf(value);
}

double Plot::Y(double value) const {
  return y_ + height_ * (1.0 - up_.ShareOf(value));
}

void Plot::DrawFrame(const std::string& across_name,
                     const std::string& up_name) {
  const long lines =
      step_up_ > 0.0 ? std::lround((up_.hi() - up_.lo()) / step_up_) : 0;
  for (long i = 0; i <= lines; ++i) {
    const double value = up_.lo() + step_up_ * static_cast<double>(i);
    svg_.Line(x_, Y(value), x_ + width_, Y(value), "grid");
    svg_.Text(x_ - 6, Y(value) + 4, FormatNumber(value), "small end");
  }
  svg_.Text(x_, y_ - 10, up_name, "name");
  svg_.Text(x_, y_ + height_ + 18, EndText(across_.lo()), "small");
  if (across_.hi() > across_.lo()) {
    svg_.Text(x_ + width_, y_ + height_ + 18, EndText(across_.hi()),
              "small end");
  }
  svg_.Text(x_ + width_ / 2, y_ + height_ + 18, across_name, "small middle");
}

std::string CurvesSvg(const StudyRecord& record) {
  const std::string& metric = FirstObjective(record).metric();
  PlotAxis across, up;
  std::vector<std::pair<std::int64_t, Svg::Points>> curves;
  for (const auto& [number, curve] : record.curves) {
    Svg::Points points;
    for (const v1::Measurement& told : curve.measurements()) {
      const auto value = told.metrics().find(metric);
      if (value == told.metrics().end()) continue;
      points.emplace_back(static_cast<double>(told.step()), value->second);
      across.Show(points.back().first);
      up.Show(points.back().second);
    }
    if (points.size() > 1) curves.emplace_back(number, std::move(points));
  }
  if (curves.empty() || up.empty()) return "";
  const std::string title = absl::StrCat("How ", metric, " came about");
  Svg svg(kPictureWidth, kPictureHeight, title);
  svg.Text(16, 26, title, "title");
  svg.Text(16, 44, "The best trials, by step; dark: the best of all", "small");
  Plot plot(svg, kPlotLeft, kPlotTop, kPictureWidth - kPlotLeft - 60,
            kPlotHeight, across, up);
  plot.DrawFrame("step", metric);
  const auto best = ByScore(record);
  for (const auto& [number, points] : curves) {
    Svg::Points drawn;
    for (const auto& [step, value] : points) {
      drawn.emplace_back(plot.X(step), plot.Y(value));
    }
    const bool is_best = !best.empty() && best[0]->number() == number;
    svg.Path(drawn, is_best ? "line" : "curve", false);
    svg.Text(drawn.back().first + 4, drawn.back().second + 4,
             absl::StrCat(number), "small");
  }
  return svg.Finish();
}

namespace {

constexpr std::size_t kMostRows = 60;
constexpr std::size_t kFewestRows = 12;
constexpr std::size_t kMostCells = 1'200;  // so that a picture has < 300 kB
constexpr double kLeft = 60.0;
constexpr double kRight = 80.0;
constexpr double kTop = 130.0;
constexpr double kTopOfNarrow = 160.0;  // below names that go upwards
constexpr double kNarrow = 20.0;        // below it a column's name goes upwards
constexpr double kRow = 16.0;
constexpr double kMostWidth = 700.0;  // of all columns
constexpr double kWidestCell = 60.0;
constexpr double kLightest = 0.12;  // of a rate that trains

struct Rates {
  double lo = std::numeric_limits<double>::infinity();
  double hi = 0.0;

  void Add(double rate) {
    if (!(rate > 0.0)) return;
    lo = std::min(lo, rate);
    hi = std::max(hi, rate);
  }
  // Rates differ by their logarithms.
  double HeatOf(double rate) const {
    if (!(hi > lo)) return 1.0;
    return kLightest +
           (1.0 - kLightest) * std::log(rate / lo) / std::log(hi / lo);
  }
};

void DrawCell(Svg& svg, const v1::ModuleRate& rate, const Rates& rates,
              double x, double y, double width) {
  const double height = kRow - 2;
  if (rate.rate() > 0.0) {
    svg.Cell(x, y, width - 2, height, rates.HeatOf(rate.rate()),
             absl::StrCat(rate.module(), ": ", FormatTrained(rate)));
    return;
  }
  svg.Rect(x, y, width - 2, height, "light",
           absl::StrCat(rate.module(), ": ", FormatTrained(rate)));
  const double across = std::min(height, width - 2);
  for (double at = 0.0; at + across <= width - 2; at += height / 2) {
    svg.Line(x + at, y + height, x + at + across, y, "grid");
  }
}

void DrawNames(Svg& svg, const std::vector<std::string>& modules, double width,
               double top) {
  for (std::size_t m = 0; m < modules.size(); ++m) {
    const double x = kLeft + (static_cast<double>(m) + 0.5) * width;
    if (width < kNarrow) {
      svg.TextUp(x + 3, top - 6, FitToWidth(modules[m], 16), "small");
      continue;
    }
    // Names stand on three levels, so that narrow columns keep them apart.
    const double y = top - 12 - 16.0 * static_cast<double>(m % 3);
    svg.Text(x, y, FitToWidth(modules[m], 16), "small middle");
    svg.Line(x, y + 3, x, top - 4, "grid");
  }
}

// Returns the modules whose rate differs between trials; a constant rate says
// nothing about them.
std::vector<std::string> ModulesThatDiffer(
    const std::vector<const v1::Trial*>& trials) {
  std::vector<std::string> modules;
  for (const v1::ModuleRate& first : trials[0]->rates()) {
    const bool differs =
        std::any_of(trials.begin(), trials.end(), [&first](const v1::Trial* t) {
          const v1::ModuleRate* const rate = RateOf(*t, first.module());
          return rate == nullptr || rate->rate() != first.rate();
        });
    if (differs) modules.push_back(first.module());
  }
  return modules;
}

// Returns "From 1e-05 (light) to 0.001 (dark), by logarithm; hatched: frozen".
std::string Legend(const Rates& rates, bool leaves_out) {
  std::string text = "All modules are frozen (hatched)";
  if (rates.hi > rates.lo) {
    text = absl::StrCat("From ", FormatRate(rates.lo), " (light) to ",
                        FormatRate(rates.hi),
                        " (dark), by logarithm; hatched: frozen");
  } else if (rates.hi > 0.0) {
    text = absl::StrCat("Dark: at ", FormatRate(rates.hi), "; hatched: frozen");
  }
  if (leaves_out) {
    absl::StrAppend(&text, "; without modules of one rate in all trials");
  }
  return text;
}

}  // namespace

std::string RateMapSvg(const StudyRecord& record) {
  std::vector<const v1::Trial*> trials = ByScore(record);
  std::erase_if(trials, [](const v1::Trial* t) { return t->rates().empty(); });
  if (trials.empty()) return "";
  const std::vector<std::string> modules = ModulesThatDiffer(trials);
  if (modules.empty()) return "";
  const std::size_t all = trials.size();
  const std::size_t rows =
      std::clamp(kMostCells / modules.size(), kFewestRows, kMostRows);
  if (trials.size() > rows) trials.resize(rows);
  Rates rates;
  for (const v1::Trial* trial : trials) {
    for (const std::string& module : modules) {
      const v1::ModuleRate* const rate = RateOf(*trial, module);
      if (rate != nullptr) rates.Add(rate->rate());
    }
  }
  const double count = static_cast<double>(modules.size());
  const double width = std::min(kWidestCell, kMostWidth / count);
  const double top = width < kNarrow ? kTopOfNarrow : kTop;
  const std::string title =
      absl::StrCat("Rates of ", all > trials.size() ? "the best " : "",
                   trials.size(), " trials, the best on top");
  Svg svg(std::max(480.0, kLeft + count * width + kRight),
          top + kRow * static_cast<double>(trials.size()) + 36, title);
  svg.Text(16, 26, title, "title");
  const bool leaves_out =
      modules.size() < static_cast<std::size_t>(trials[0]->rates_size());
  svg.Text(16, 44, Legend(rates, leaves_out), "small");
  DrawNames(svg, modules, width, top);
  double y = top;
  for (const v1::Trial* trial : trials) {
    svg.Text(kLeft - 8, y + 11, absl::StrCat(trial->number()), "small end");
    for (std::size_t m = 0; m < modules.size(); ++m) {
      const v1::ModuleRate* const rate = RateOf(*trial, modules[m]);
      if (rate == nullptr) continue;
      DrawCell(svg, *rate, rates, kLeft + static_cast<double>(m) * width, y,
               width);
    }
    svg.Text(kLeft + count * width + 6, y + 11, FormatNumber(trial->values(0)),
             "small");
    y += kRow;
  }
  svg.Text(16, y + 22,
           absl::StrCat("Left: the trial's number; right: its ",
                        FirstObjective(record).metric()),
           "small");
  return svg.Finish();
}

namespace {

constexpr double kHalf = 290.0;  // of two plots side by side

using Cost = double (*)(const v1::Trial&);

// Returns the trials that reported their cost.
std::vector<const v1::Trial*> Costed(const StudyRecord& record, Cost cost) {
  std::vector<const v1::Trial*> trials = ByScore(record);
  std::erase_if(trials,
                [cost](const v1::Trial* t) { return !(cost(*t) > 0.0); });
  return trials;
}

void DrawTradeOff(Svg& svg, const StudyRecord& record,
                  const std::vector<const v1::Trial*>& trials, Cost cost,
                  const std::string& name, double x) {
  const v1::Objective& objective = FirstObjective(record);
  PlotAxis across, up;
  for (const v1::Trial* trial : trials) {
    across.Show(cost(*trial));
    up.Show(trial->values(0));
  }
  Plot plot(svg, x, kPlotTop, kHalf, kPlotHeight, across, up);
  plot.DrawFrame(name, objective.metric());
  for (const v1::Trial* trial : trials) {
    svg.Dot(plot.X(cost(*trial)), plot.Y(trial->values(0)), "dot");
  }
  Svg::Points steps;
  double height = 0.0;
  for (const v1::Trial* trial : FrontBy(trials, objective, cost)) {
    const double at = plot.X(cost(*trial));
    // The best so far holds until somebody pays more.
    if (!steps.empty()) steps.emplace_back(at, height);
    height = plot.Y(trial->values(0));
    steps.emplace_back(at, height);
    svg.Dot(at, height, "best");
  }
  svg.Path(steps, "line", false);
}

}  // namespace

std::string TradeOffSvg(const StudyRecord& record) {
  const auto by_parameters = Costed(record, TrainedParametersOf);
  const auto by_seconds = Costed(record, SecondsOfTrial);
  if (by_parameters.empty() && by_seconds.empty()) return "";
  const std::string title = "What a better score costs";
  Svg svg(kPictureWidth, kPictureHeight, title);
  svg.Text(16, 26, title, "title");
  svg.Text(16, 44,
           "A dot for each trial that succeeded; orange: no other is at least "
           "as good for less",
           "small");
  if (!by_parameters.empty()) {
    DrawTradeOff(svg, record, by_parameters, TrainedParametersOf,
                 "trained parameters", kPlotLeft);
  }
  if (!by_seconds.empty()) {
    DrawTradeOff(svg, record, by_seconds, SecondsOfTrial,
                 "seconds of the whole trial", kPictureWidth - kHalf - 20);
  }
  return svg.Finish();
}

}  // namespace frostline::cli
