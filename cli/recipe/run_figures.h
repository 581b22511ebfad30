// SPDX-License-Identifier: Apache-2.0
//
// File: run_figures.h
//
// Pictures of a stage's runs. Each is empty where there is nothing to draw.
#ifndef FROSTLINE_CLI_RECIPE_RUN_FIGURES_H_
#define FROSTLINE_CLI_RECIPE_RUN_FIGURES_H_

#include <optional>
#include <string>
#include <vector>

#include "cli/recipe/run_table.h"
#include "cli/report/study_record.h"

namespace frostline::cli {

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

#endif  // FROSTLINE_CLI_RECIPE_RUN_FIGURES_H_
