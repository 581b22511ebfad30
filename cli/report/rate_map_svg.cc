// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "cli/report/trial_figures.h"
#include "cli/report/trial_scores.h"
#include "cli/term/utf8.h"
#include "cli/view/format.h"
#include "cli/view/svg.h"

namespace frostline::cli {
namespace {

constexpr std::size_t kMostRows = 60;
constexpr double kLeft = 60.0;
constexpr double kRight = 80.0;
constexpr double kTop = 130.0;
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
  for (double at = 0.0; at + height <= width - 2; at += height / 2) {
    svg.Line(x + at, y + height, x + at + height, y, "grid");
  }
}

void DrawNames(Svg& svg, const v1::Trial& trial, double width) {
  for (int m = 0; m < trial.rates_size(); ++m) {
    // Names stand on three levels, so that narrow columns keep them apart.
    const double y = kTop - 12 - 16.0 * (m % 3);
    svg.Text(kLeft + (m + 0.5) * width, y,
             FitToWidth(trial.rates(m).module(), 16), "small middle");
    svg.Line(kLeft + (m + 0.5) * width, y + 3, kLeft + (m + 0.5) * width,
             kTop - 4, "grid");
  }
}

}  // namespace

std::string RateMapSvg(const StudyRecord& record) {
  std::vector<const v1::Trial*> trials = ByScore(record);
  std::erase_if(trials, [](const v1::Trial* t) { return t->rates().empty(); });
  if (trials.empty()) return "";
  const std::size_t all = trials.size();
  if (trials.size() > kMostRows) trials.resize(kMostRows);
  Rates rates;
  for (const v1::Trial* trial : trials) {
    for (const v1::ModuleRate& rate : trial->rates()) rates.Add(rate.rate());
  }
  const int modules = trials[0]->rates_size();
  const double width = std::min(kWidestCell, kMostWidth / modules);
  const std::string title =
      absl::StrCat("Rates of ", all > trials.size() ? "the best " : "",
                   trials.size(), " trials, the best on top");
  Svg svg(std::max(480.0, kLeft + modules * width + kRight),
          kTop + kRow * static_cast<double>(trials.size()) + 36, title);
  svg.Text(16, 26, title, "title");
  svg.Text(16, 44,
           rates.hi > 0.0
               ? absl::StrCat("From ", FormatRate(rates.lo), " (light) to ",
                              FormatRate(rates.hi),
                              " (dark), by logarithm; hatched: frozen")
               : "All modules are frozen (hatched)",
           "small");
  DrawNames(svg, *trials[0], width);
  double y = kTop;
  for (const v1::Trial* trial : trials) {
    svg.Text(kLeft - 8, y + 11, absl::StrCat(trial->number()), "small end");
    for (int m = 0; m < std::min(modules, trial->rates_size()); ++m) {
      DrawCell(svg, trial->rates(m), rates, kLeft + m * width, y, width);
    }
    svg.Text(kLeft + modules * width + 6, y + 11,
             FormatNumber(trial->values(0)), "small");
    y += kRow;
  }
  svg.Text(16, y + 22,
           absl::StrCat("Left: the trial's number; right: its ",
                        FirstObjective(record).metric()),
           "small");
  return svg.Finish();
}

}  // namespace frostline::cli
