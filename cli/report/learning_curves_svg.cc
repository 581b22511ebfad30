// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/report/plot.h"
#include "cli/report/trial_figures.h"
#include "cli/report/trial_scores.h"
#include "cli/view/svg.h"

namespace frostline::cli {
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

}  // namespace frostline::cli
