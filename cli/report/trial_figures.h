// SPDX-License-Identifier: Apache-2.0
//
// File: trial_figures.h
//
// Pictures of a study's trials (view/svg.h). Each is empty where the record has
// nothing to draw.
#ifndef FROSTLINE_CLI_REPORT_TRIAL_FIGURES_H_
#define FROSTLINE_CLI_REPORT_TRIAL_FIGURES_H_

#include <string>

#include "cli/report/study_record.h"

namespace frostline::cli {

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
