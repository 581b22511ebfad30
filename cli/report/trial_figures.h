// SPDX-License-Identifier: Apache-2.0
//
// File: trial_figures.h
//
// Pictures of a study's trials (view/svg.h). A picture is empty when the record
// has nothing to draw.
#ifndef FROSTLINE_CLI_REPORT_TRIAL_FIGURES_H_
#define FROSTLINE_CLI_REPORT_TRIAL_FIGURES_H_

#include <limits>
#include <string>

#include "cli/report/study_record.h"
#include "cli/view/svg.h"

namespace frostline::cli {

// The sizes of a picture that holds one plot, or two side by side.
inline constexpr double kPictureWidth = 760.0;
inline constexpr double kPictureHeight = 320.0;
inline constexpr double kPlotTop = 84.0;
inline constexpr double kPlotLeft = 70.0;
inline constexpr double kPlotHeight = 190.0;

// One axis of a plot: the range of its values and their positions.
class PlotAxis {
 public:
  void Show(double value);
  bool empty() const { return !(hi_ >= lo_); }
  double lo() const { return lo_; }
  double hi() const { return hi_; }
  // Returns the position of a value, 0 … 1. It is a half when all values are
  // equal.
  double ShareOf(double value) const;
  // Moves both ends to multiples of a round step: 1, 2 or 5 times a power of
  // ten, so that the axis has two to six steps. Returns the step, or 0 when all
  // values are equal.
  double RoundEnds();

 private:
  double lo_ = std::numeric_limits<double>::infinity();
  double hi_ = -std::numeric_limits<double>::infinity();
};

// A plot at (x, y) of a picture: a frame with round numbers on the vertical
// axis and the two ends on the horizontal one. The axes must be complete before
// it is made.
class Plot {
 public:
  Plot(Svg& svg, double x, double y, double width, double height,
       const PlotAxis& across, const PlotAxis& up);

  void DrawFrame(const std::string& across_name, const std::string& up_name);
  double X(double value) const;
  double Y(double value) const;

 private:
  Svg& svg_;
  double x_, y_, width_, height_;
  PlotAxis across_, up_;
  double step_up_;
};

// Draws a row for each of the best trials and a column for each module. A
// higher rate is darker, and a frozen module is hatched.
std::string RateMapSvg(const StudyRecord& record);

// Draws the objective over the training of the best trials.
std::string CurvesSvg(const StudyRecord& record);

// Draws score over trained parameters and over seconds, and marks the trials
// that no other trial beats in both.
std::string TradeOffSvg(const StudyRecord& record);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_REPORT_TRIAL_FIGURES_H_
