// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "cli/report/plot.h"
#include "cli/report/trial_figures.h"
#include "cli/report/trial_scores.h"
#include "cli/view/svg.h"

namespace frostline::cli {
namespace {

constexpr double kHalf = 290.0;  // of two plots side by side

using Cost = double (*)(const v1::Trial&);

// The trials that said what they cost.
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
