// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "cli/live/text_plot.h"
#include "cli/term/utf8.h"
#include "cli/view/importance_text.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

constexpr int kFewestColumns = 30;
constexpr int kShareColumns = 7;  // "100.0 %"
constexpr int kMarkColumns = 3;   // the mark between blanks
constexpr std::size_t kMaxName = 200;

double UpperEnd(const v1::Interval& interval) {
  const double value = std::isfinite(interval.value()) ? interval.value() : 0.0;
  return std::isfinite(interval.hi80()) ? std::max(value, interval.hi80())
                                        : value;
}

int ColumnOf(double share, double scale, int columns) {
  if (!(scale > 0.0) || !std::isfinite(share)) return 0;
  return static_cast<int>(
      std::lround(std::clamp(share / scale, 0.0, 1.0) * columns));
}

// "██├██──┤": solid up to the value, and the interval across it.
std::string BarOf(const v1::Interval& interval, double scale, int columns) {
  const int value = ColumnOf(interval.value(), scale, columns);
  std::string bar;
  if (!std::isfinite(interval.lo80()) || !std::isfinite(interval.hi80())) {
    for (int i = 0; i < value; ++i) bar += "█";
    return bar;
  }
  const int last = std::max(0, ColumnOf(interval.hi80(), scale, columns) - 1);
  const int first = std::min(last, ColumnOf(interval.lo80(), scale, columns));
  for (int i = 0; i < std::max(value, last + 1); ++i) {
    if (i == first && first < last) {
      bar += "├";
    } else if (i == last && first < last) {
      bar += "┤";
    } else {
      bar += i < value ? "█" : "─";
    }
  }
  return bar;
}

std::string Padded(const std::string& text, int width) {
  const std::string fit = FitToWidth(text, width);
  return fit + std::string(static_cast<std::size_t>(
                               std::max(0, width - DisplayWidth(fit))),
                           ' ');
}

// Of the parameter's modules; where they differ, or none is known, there is no
// mark.
const char* PlotMarkOf(const v1::ParameterImportance& row,
                       const std::map<std::string, bool>& is_frozen) {
  int frozen = 0;
  int trained = 0;
  for (const std::string& module : row.modules()) {
    const auto found = is_frozen.find(module);
    if (found == is_frozen.end()) continue;
    ++(found->second ? frozen : trained);
  }
  if (frozen > 0 && trained == 0) return " * ";
  return trained > 0 && frozen == 0 ? " + " : "   ";
}

}  // namespace

std::string PlotImportance(const v1::ImportanceReport& report,
                           const std::map<std::string, bool>& is_frozen,
                           int width) {
  width = std::max(width, kFewestColumns);
  int name_columns = 0;
  double scale = 0.0;
  for (const v1::ParameterImportance& row : report.parameters()) {
    name_columns = std::max(name_columns, DisplayWidth(row.parameter()));
    scale = std::max(scale, UpperEnd(row.main()));
  }
  if (report.parameters().empty()) return "no parameters to plot\n";
  name_columns = std::min(name_columns, width / 3);
  const int bar_columns =
      width - name_columns - kMarkColumns - kShareColumns - 1;
  std::string text;
  for (const v1::ParameterImportance& row : report.parameters()) {
    const std::string share = Percent(row.main().value());
    absl::StrAppend(
        &text,
        Padded(proto::CleanText(row.parameter(), kMaxName), name_columns),
        PlotMarkOf(row, is_frozen),
        std::string(
            kShareColumns - std::min<std::size_t>(share.size(), kShareColumns),
            ' '),
        share, " ", BarOf(row.main(), scale, bar_columns), "\n");
  }
  return absl::StrCat(
      text, "\n",
      WrapText("bars: share of the variance; ├ ┤: its 80 % interval; * frozen, "
               "+ trained in the best trial",
               width));
}

}  // namespace frostline::cli
