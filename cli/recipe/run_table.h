// SPDX-License-Identifier: Apache-2.0
//
// File: run_table.h
//
// The runs of a stage, each over its seeds, with published results beside them.
// The labels of the record's study say what is compared.
#ifndef FROSTLINE_CLI_RECIPE_RUN_TABLE_H_
#define FROSTLINE_CLI_RECIPE_RUN_TABLE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/recipe/recipe_file.h"
#include "cli/report/report_page.h"
#include "cli/report/study_record.h"

namespace frostline::cli {

// Mean and deviation of numbers from several seeds. The mean of no number and
// the deviation of fewer than two are NaN.
struct Spread {
  double mean = 0.0;
  double deviation = 0.0;
  std::size_t count = 0;
};
Spread SpreadOf(const std::vector<double>& values);

// A run and its succeeded trials.
struct RunTrials {
  std::string name;
  std::optional<double> at;
  std::string line = {};  // that joins it with others in a picture
  std::vector<const v1::Trial*> succeeded;  // owned by the record
  std::size_t all = 0;
};

// Returns the runs in the order of their first trials. Trials without a run are
// left out.
std::vector<RunTrials> RunsOf(const StudyRecord& record);

// Returns a label of the record's study, or "".
std::string LabelOf(const StudyRecord& record, const std::string& label);

// Returns the metric that runs are compared by: the label's, else the
// objective's.
std::string MetricOfRuns(const StudyRecord& record);

// Returns mean and deviation of a metric over the final metrics of a run's
// trials.
Spread MetricOf(const RunTrials& run, const std::string& metric);

// Returns a metric's name for people: "test accuracy" for "test.accuracy".
std::string PeoplesName(const std::string& metric);

// Returns whether time is counted in processor seconds: on a processor, where
// every trial told them. Other programs lengthen only seconds by the clock.
bool CountsProcessor(const StudyRecord& record);

// The part of the training time that a run saves against the run that it is
// compared with, and its standard error over seeds; NaN: not known.
struct TimeSaved {
  double share = 0.0;
  double error = 0.0;
};

// Returns what each of RunsOf(record) saves.
std::vector<TimeSaved> TimeSavedBy(const StudyRecord& record);

// Returns a sentence that says why the times are in doubt: the machine was busy
// in some trials and idle in others. Returns "" when nothing says so.
std::string TimeDoubt(const StudyRecord& record);

// Returns the table of the runs, with what was published in columns of its own
// beside ours, and a row for each run that was published alone. `published` may
// be null.
ReportTable RunTable(const StudyRecord& record, const std::string& name,
                     const PublishedStage* published);

// Returns what stands for a run at a dot of a picture, by its place: "a", "b",
// …, "z", "a2", ….
std::string MarkOf(std::size_t i);

// Pictures of a stage's runs. Each is empty when there is nothing to draw.

// A run's metric as a share of the metric of the run that it is compared with.
struct RelativeScore {
  std::string run;
  double at = 0.0;
  double share = 0.0;
  double error =
      0.0;  // standard error of the mean, as a share; NaN of one seed
  std::string line = {};
};

// Returns the scores of the runs that have a position, in its order. Returns
// none when no run has one, or when the run to compare with has no positive
// mean.
std::vector<RelativeScore> RelativeScores(const StudyRecord& record);

// Returns the run with the highest position whose mean keeps `share` of the
// score, if any.
std::optional<RelativeScore> FurthestThatKeeps(
    const std::vector<RelativeScore>& scores, double share);

// Draws each run's share over its position, with its standard error, and a
// line for each family of runs.
std::string RelativeScoreSvg(const StudyRecord& record);

// Draws the metric of the label `recipe_curve` over time, for the first trial
// of each run.
std::string RunCurvesSvg(const StudyRecord& record);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_RECIPE_RUN_TABLE_H_
