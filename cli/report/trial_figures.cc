// SPDX-License-Identifier: Apache-2.0
#include "cli/report/trial_figures.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/report/trial_scores.h"
#include "cli/term/utf8.h"
#include "cli/view/format.h"
#include "cli/view/svg.h"

namespace frostline::cli {
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

// What one rate is the same for in all trials tells nothing of them.
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

// "From 1e-05 (light) to 0.001 (dark), by logarithm; hatched: frozen".
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

}  // namespace frostline::cli
