// SPDX-License-Identifier: Apache-2.0
//
// File: plot_area.h
//
// Where the points of a plot of characters stand.
#ifndef FROSTLINE_CLI_LIVE_PLOT_AREA_H_
#define FROSTLINE_CLI_LIVE_PLOT_AREA_H_

#include <string>
#include <vector>

namespace frostline::cli {

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

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_LIVE_PLOT_AREA_H_
