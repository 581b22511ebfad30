// SPDX-License-Identifier: Apache-2.0
//
// File: run_table.h
//
// The runs of a stage, each over its seeds, with what was published beside.
// A record's study says by its labels what was to be compared.
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

// Of numbers, as seeds make them; NaN where nothing, or one, is known.
struct Spread {
  double mean = 0.0;
  double deviation = 0.0;
  std::size_t count = 0;
};
Spread SpreadOf(const std::vector<double>& values);

struct RunTrials {
  std::string name;
  std::optional<double> at;
  std::vector<const v1::Trial*> succeeded;  // they belong to the record
  std::size_t all = 0;
};

// In the order in which their first trials stand; trials without a run are of
// none.
std::vector<RunTrials> RunsOf(const StudyRecord& record);

// A label of the record's study; "" where there is none.
std::string LabelOf(const StudyRecord& record, const std::string& label);

// What the runs are compared by: the label's metric, else the objective's.
std::string MetricOfRuns(const StudyRecord& record);

// Of the final metrics of a run's trials.
Spread MetricOf(const RunTrials& run, const std::string& metric);

// `published` may be null.
ReportTable RunTable(const StudyRecord& record, const std::string& name,
                     const PublishedStage* published);

// Pictures of a stage's runs. Each is empty where there is nothing to draw.

// A run's metric as a share of that of the run that it is compared with.
struct RelativeScore {
  std::string run;
  double at = 0.0;
  double share = 0.0;
  double error =
      0.0;  // standard error of the mean, as a share; NaN of one seed
};

// Of the runs that have a place, in its order. Empty where none has, or where
// the run to compare with has no positive mean.
std::vector<RelativeScore> RelativeScores(const StudyRecord& record);

// The run furthest along whose mean keeps `share` of the score; nothing where
// none does.
std::optional<RelativeScore> FurthestThatKeeps(
    const std::vector<RelativeScore>& scores, double share);

// Draws each run's share against its place, with its standard error.
std::string RelativeScoreSvg(const StudyRecord& record);

// Draws how the metric of the label `recipe_curve` came about in the first
// trial of each run.
std::string RunCurvesSvg(const StudyRecord& record);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_RECIPE_RUN_TABLE_H_
