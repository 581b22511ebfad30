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
#include <vector>

#include "absl/status/statusor.h"
#include "cli/client/client.h"
#include "cli/report/report_page.h"
#include "cli/report/study_record.h"
#include "cli/view/svg.h"
#include "frostline/v1/study.pb.h"
#include "frostline/v1/trial.pb.h"

namespace frostline::cli {

// The points of a study, ranked by all runs of each point together
// (statistics/seed_luck.h). Equal points are ordered by which was tried first.
// One lucky run does not rank above a point that did well three times, and a
// point that happened to have no unlucky seed does not rank above those that
// had.

// The identity of a point: two trials tried the same point when all parameters
// have the same values.

// Returns a key that is equal for equal points and only for those. Enqueued
// points must not have a strategy.
std::string PointKeyOf(const v1::Trial& trial);
std::string PointKeyOf(const v1::EnqueuedTrial& enqueued);

// A point and the runs of it.
struct RankedPoint {
  double judged = 0.0;            // the value for the ranking
  double mean = 0.0;              // over its runs
  std::vector<v1::Trial> trials;  // the succeeded ones, in order

  // Returns the parameters, which all its trials share.
  const google::protobuf::RepeatedPtrField<v1::ParameterValue>& values() const {
    return trials[0].parameters();
  }
};

// Ranks the points of the trials that succeeded, the best first.
std::vector<RankedPoint> RankPoints(const v1::Study& study,
                                    const std::vector<v1::Trial>& trials);

// Fetches the trials of "studies/ID" in the FULL view and ranks their points.
absl::StatusOr<std::vector<RankedPoint>> FetchRankedPoints(
    Client& client, const std::string& study);

// Returns the study's first objective, which orders trials in reports.
const v1::Objective& FirstObjective(const StudyRecord& record);
bool IsBetter(const v1::Objective& objective, double a, double b);

// Returns the succeeded trials, the best first; equal ones keep their order.
// They are owned by the record.
std::vector<const v1::Trial*> ByScore(const StudyRecord& record);

// Returns "Best trial: 14, accuracy 0.709, …", with the fact that this is one
// run or, if the point was run again, the mean of all its runs. Returns "" when
// no trial succeeded.
std::string BestTrialSentence(const StudyRecord& record);

// Returns those of `trials` that no other trial beats in both score and cost.
std::vector<const v1::Trial*> FrontBy(
    const std::vector<const v1::Trial*>& trials, const v1::Objective& objective,
    double (*cost)(const v1::Trial&));

double TrainedParametersOf(const v1::Trial& trial);
double SecondsOfTrial(const v1::Trial& trial);

// Returns the rate of a module in the trial, or null.
const v1::ModuleRate* RateOf(const v1::Trial& trial, const std::string& module);

// Tables of a report: rounded for people, and with full precision as CSV.

ReportTable PlanTable(const v1::FreezePlan& plan);
ReportTable ImportanceTable(const v1::ImportanceReport& report);
ReportTable FrontierTable(const v1::Frontier& frontier);
// Returns all trials by number, with the rate of every module.
ReportTable TrialsTable(const StudyRecord& record);
// What training did to each module of the best trial; no rows where its trainer
// did not tell.
ReportTable FreezingTable(const StudyRecord& record);

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
