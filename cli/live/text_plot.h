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

// Where the points of a plot of characters stand.

// From the least to the greatest of the values that are finite.
class PlotRange {
 public:
  void Show(double value);
  bool empty() const { return !(hi_ >= lo_); }
  bool is_one_value() const { return hi_ == lo_; }
  // 0 … 1; half where all values are one.
  double ShareOf(double value) const;
  double At(double share) const;
  // With as many digits as tell the ends apart.
  std::string Label(double value) const;

 private:
  double lo_ = 1.0;  // above hi_: there are no values
  double hi_ = 0.0;
};

// Characters in rows, the first one on top; each of 2 × 4 dots.
class PlotArea {
 public:
  PlotArea(int columns, int rows);

  // Shares of the area from its lower left corner, 0 … 1.
  void Dot(double across, double up);
  void Line(double across, double up, double to_across, double to_up);
  void Mark(double across, double up, char mark);
  // Marks every column between the ends.
  void MarkLine(double across, double up, double to_across, double to_up,
                char mark);

  // The area with its frame and the labels of both axes.
  std::string Framed(const PlotRange& across, const PlotRange& up) const;

 private:
  struct Cell {
    unsigned dots = 0;  // as Unicode numbers those of Braille
    char mark = '\0';   // stands over the dots
  };

  Cell& At(int column, int row);
  std::string RowText(int row) const;

  const int columns_;
  const int rows_;
  std::vector<Cell> cells_;
};

// So many columns the labels at the left of so many rows take.
int LabelColumns(const PlotRange& up, int rows);

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
