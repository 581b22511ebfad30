// SPDX-License-Identifier: Apache-2.0
//
// File: text_plot.h
//
// Plots made of characters, with axes. Values that are not finite are left out,
// and the last line says how many. No line is wider than asked for. A plot
// without values is empty.
#ifndef FROSTLINE_CLI_LIVE_TEXT_PLOT_H_
#define FROSTLINE_CLI_LIVE_TEXT_PLOT_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "frostline/v1/importance.pb.h"

namespace frostline::cli {

// The coordinates of a plot.

// The range of one axis: from the least to the greatest finite value.
class PlotRange {
 public:
  void Show(double value);
  bool empty() const { return !(hi_ >= lo_); }
  bool is_one_value() const { return hi_ == lo_; }
  // Returns the position of a value, 0 … 1. It is a half when all values are
  // equal.
  double ShareOf(double value) const;
  double At(double share) const;
  // Returns the value as text, with enough digits to tell both ends apart.
  std::string Label(double value) const;

 private:
  double lo_ = 1.0;  // above hi_ when there are no values
  double hi_ = 0.0;
};

// The area of a plot: rows of characters from the top. Each character has 2 × 4
// dots.
class PlotArea {
 public:
  PlotArea(int columns, int rows);

  // Positions are shares of the area, 0 … 1, from its lower left corner.
  void Dot(double across, double up);
  void Line(double across, double up, double to_across, double to_up);
  void Mark(double across, double up, char mark);
  // Marks every column between the ends.
  void MarkLine(double across, double up, double to_across, double to_up,
                char mark);

  // Returns the area with its frame and the labels of both axes.
  std::string Framed(const PlotRange& across, const PlotRange& up) const;

 private:
  struct Cell {
    unsigned dots = 0;  // the bits of a Unicode Braille pattern
    char mark = '\0';   // drawn over the dots
  };

  Cell& At(int column, int row);
  std::string RowText(int row) const;

  const int columns_;
  const int rows_;
  std::vector<Cell> cells_;
};

// Returns the number of columns that the labels on the left take, for this many
// rows.
int LabelColumns(const PlotRange& up, int rows);

// The size of a plot without a terminal.
inline constexpr int kPlotColumns = 80;
inline constexpr int kPlotLines = 16;

struct Curve {
  std::string name = {};
  std::vector<std::pair<double, double>> points = {};  // x rises
};

// Plots curves by joining their points. A single curve is drawn with dots.
// Several curves are drawn with a letter each, which a legend explains.
// `height` counts only the lines of the plot. The least width is 20, the least
// height 3.
std::string PlotCurves(const std::vector<Curve>& curves, int width, int height);

// Plots values as points, and the best value so far as a line with steps.
std::string PlotHistory(const Curve& values, const Curve& best, int width,
                        int height);

// Plots a bar for each parameter with its 80 % interval. `is_frozen` has the
// modules of the best trial: "*" marks the frozen ones, "+" the trained ones.
std::string PlotImportance(const v1::ImportanceReport& report,
                           const std::map<std::string, bool>& is_frozen,
                           int width);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_LIVE_TEXT_PLOT_H_
