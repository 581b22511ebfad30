// SPDX-License-Identifier: Apache-2.0
#include "cli/report/trial_figures.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/report/trial_scores.h"
#include "cli/term/utf8.h"
#include "cli/view/format.h"
#include "cli/view/svg.h"

namespace frostline::cli {
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
             absl::StrCat(rate.module(), ": ", FormatRate(rate.rate())));
    return;
  }
  svg.Rect(x, y, width - 2, height, "light",
           absl::StrCat(rate.module(), ": frozen"));
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
