// SPDX-License-Identifier: Apache-2.0
//
// File: trial_figures.h
//
// Pictures of a study's trials (view/svg.h). Each is empty where the record has
// nothing to draw.
#ifndef FROSTLINE_CLI_REPORT_TRIAL_FIGURES_H_
#define FROSTLINE_CLI_REPORT_TRIAL_FIGURES_H_

#include <limits>
#include <string>

#include "cli/report/study_record.h"
#include "cli/view/svg.h"

namespace frostline::cli {

// Of a picture that holds one plot, or two side by side.
inline constexpr double kPictureWidth = 760.0;
inline constexpr double kPictureHeight = 320.0;
inline constexpr double kPlotTop = 84.0;
inline constexpr double kPlotLeft = 70.0;
inline constexpr double kPlotHeight = 190.0;

// One axis of a plot: values that are there, and where they stand.
class PlotAxis {
 public:
  void Show(double value);
  bool empty() const { return !(hi_ >= lo_); }
  double lo() const { return lo_; }
  double hi() const { return hi_; }
  // 0 … 1; half where all values are one.
  double ShareOf(double value) const;
  // Both ends become multiples of a round step, 1, 2 or 5 times a power of ten,
  // of which the axis then has two to six. Answers the step, 0 where all values
  // are one.
  double RoundEnds();

 private:
  double lo_ = std::numeric_limits<double>::infinity();
  double hi_ = -std::numeric_limits<double>::infinity();
};

// A frame with round numbers up, and with the ends across, at (x, y) of a
// picture. The axes are complete before it is made.
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

// Draws a row for each of the best trials and a column for each module: the
// darker the higher its rate, hatched where it is frozen.
std::string RateMapSvg(const StudyRecord& record);

// Draws what the best trials measured of the objective while they trained.
std::string CurvesSvg(const StudyRecord& record);

// Draws score against trained parameters and against seconds, with the trials
// that no other beats in both.
std::string TradeOffSvg(const StudyRecord& record);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_REPORT_TRIAL_FIGURES_H_
