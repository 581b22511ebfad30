// SPDX-License-Identifier: Apache-2.0
//
// File: text_plot.h
//
// Plots of characters, with their axes. What is not finite has no place in a
// plot: it is left out, and the last line says how much that was. No line is
// wider than asked for, and none is written for nothing.
#ifndef FROSTLINE_CLI_LIVE_TEXT_PLOT_H_
#define FROSTLINE_CLI_LIVE_TEXT_PLOT_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "frostline/v1/importance.pb.h"

namespace frostline::cli {

// A plot without a terminal is as wide and as high as this.
inline constexpr int kPlotColumns = 80;
inline constexpr int kPlotLines = 16;

struct Curve {
  std::string name = {};
  std::vector<std::pair<double, double>> points = {};  // x rises
};

// Joins the points of each curve. One alone is drawn finely; of several each
// has a letter, which a legend names. `height` counts the lines of the plot
// alone. A width below 20 counts as 20, a height below 3 as 3.
std::string PlotCurves(const std::vector<Curve>& curves, int width, int height);

// Points, and a line that steps: what was best so far.
std::string PlotHistory(const Curve& values, const Curve& best, int width,
                        int height);

// A bar for each parameter, with its 80 % interval. `is_frozen` has the modules
// of the best trial: "*" marks those that it froze, "+" those that it trained.
std::string PlotImportance(const v1::ImportanceReport& report,
                           const std::map<std::string, bool>& is_frozen,
                           int width);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_LIVE_TEXT_PLOT_H_
