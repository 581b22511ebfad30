// SPDX-License-Identifier: Apache-2.0
#include "cli/view/importance_svg.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/term/utf8.h"
#include "cli/view/format.h"
#include "cli/view/importance_text.h"
#include "cli/view/svg.h"

namespace frostline::cli {
namespace {

constexpr double kBarsWidth = 720.0;
constexpr double kBarsLeft = 170.0;  // of the bars; names end before it
constexpr double kRight = 80.0;      // for their numbers
constexpr double kTop = 100.0;
constexpr double kRow = 24.0;
constexpr double kFoot = 58.0;
constexpr int kNameColumns = 22;
constexpr int kFootColumns = 108;

// The end of the axis: all that is drawn, up to a round number of per cent.
double AxisEnd(const v1::ImportanceReport& report) {
  double end = 0.05;
  for (const v1::ParameterImportance& row : report.parameters()) {
    end = std::fmax(end, std::fmax(row.main().value(), row.main().hi95()));
  }
  return std::ceil(end * 20.0) / 20.0;
}

void DrawAxis(Svg& svg, double end, double bottom) {
  const double columns = kBarsWidth - kBarsLeft - kRight;
  const double step = end > 0.5 ? 0.2 : end > 0.2 ? 0.1 : 0.05;
  for (int i = 0; i * step <= end + 1e-9; ++i) {
    const double x = kBarsLeft + i * step / end * columns;
    svg.Line(x, kTop - 6, x, bottom, "grid");
    svg.Text(x, kTop - 12, absl::StrFormat("%.0f %%", i * step * 100),
             "small middle");
  }
}

void DrawRow(Svg& svg, const v1::ParameterImportance& row, double end,
             double y) {
  const double scale = (kBarsWidth - kBarsLeft - kRight) / end;
  const auto at = [scale](double share) {
    return kBarsLeft + std::fmax(0.0, share) * scale;
  };
  const v1::Interval& main = row.main();
  const double middle = y + kRow / 2;
  svg.Text(kBarsLeft - 10, middle + 4,
           FitToWidth(row.parameter(), kNameColumns), "name end");
  // Solid only as far as it is sure.
  const double sure = row.distinguishable() && main.lo80() > 0.0
                          ? std::fmin(main.lo80(), main.value())
                          : 0.0;
  const std::string hint =
      absl::StrCat(row.parameter(), ": ", Percent(main.value()), " (",
                   PercentInterval(main), ")");
  svg.Rect(kBarsLeft, y + 4, at(main.value()) - kBarsLeft, kRow - 8, "faint",
           hint);
  svg.Rect(kBarsLeft, y + 4, at(sure) - kBarsLeft, kRow - 8, "bar", hint);
  if (main.hi95() > main.lo95()) {
    svg.Line(at(main.lo95()), middle, at(main.hi95()), middle, "line");
    svg.Line(at(main.lo80()), middle, at(main.hi80()), middle, "thick");
  }
  svg.Text(kBarsWidth - 14, middle + 4, Percent(main.value()), "name end");
}

std::string HowSure(const v1::ImportanceReport& report) {
  std::string text = absl::StrCat(FormatCount(report.trials_used()),
                                  " trials, ", report.options().evaluator(),
                                  ", seed ", report.options().seed());
  if (!std::isnan(report.out_of_bag_r2())) {
    absl::StrAppend(&text, ", out-of-bag R2 ",
                    absl::StrFormat("%.2f", report.out_of_bag_r2()));
  }
  if (report.provisional()) text += ", study still running";
  return text;
}

}  // namespace

std::string ImportanceSvg(const v1::ImportanceReport& report) {
  const double bottom = kTop + kRow * report.parameters_size();
  const std::string title =
      absl::StrCat("What mattered for ", report.options().target(), " in ",
                   LastPart(report.study()));
  Svg svg(kBarsWidth, bottom + kFoot, title);
  svg.Text(16, 28, FitToWidth(title, 80), "title");
  svg.Text(16, 46, FitToWidth(report.verdict(), kFootColumns), "small");
  svg.Text(16, 62, FitToWidth(HowSure(report), kFootColumns), "small");
  const double end = AxisEnd(report);
  DrawAxis(svg, end, bottom);
  double y = kTop;
  for (const v1::ParameterImportance& row : report.parameters()) {
    DrawRow(svg, row, end, y);
    y += kRow;
  }
  svg.Text(16, bottom + 24,
           "Share of the variance over the searched space; 80 % interval "
           "thick, 95 % thin; hollow: not sure.",
           "small");
  std::string doubt = report.stability().sentence();
  if (!report.warnings().empty()) {
    absl::StrAppend(&doubt, doubt.empty() ? "" : "; ",
                    report.warnings(0).sentence());
  }
  svg.Text(16, bottom + 42, FitToWidth(doubt, kFootColumns), "small");
  return svg.Finish();
}

}  // namespace frostline::cli
