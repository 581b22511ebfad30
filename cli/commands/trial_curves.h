// SPDX-License-Identifier: Apache-2.0
//
// File: trial_curves.h
//
// What trials measured at each step, as `trial curves` shows it.
#ifndef FROSTLINE_CLI_COMMANDS_TRIAL_CURVES_H_
#define FROSTLINE_CLI_COMMANDS_TRIAL_CURVES_H_

#include <set>
#include <string>
#include <vector>

#include "cli/commands/trial_words.h"
#include "frostline/v1/study.pb.h"

namespace frostline::cli {

struct MeasuredCurve {
  TrialName trial;
  v1::ListMeasurementsReply measured;
};

using MeasuredCurves = std::vector<MeasuredCurve>;

// The metrics that any of them has.
std::set<std::string> MetricsIn(const MeasuredCurves& curves);

// A column for each trial and metric, a row for each step. It is empty when
// nothing was measured.
std::string CurvesTable(const MeasuredCurves& curves,
                        const std::set<std::string>& metrics, int width);
std::string CurvesCsv(const MeasuredCurves& curves,
                      const std::set<std::string>& metrics);

// Each as the contract's message, with its trial's name.
std::string CurvesJson(MeasuredCurves curves,
                       const std::set<std::string>& metrics);

// A plot for each metric, in which each trial is a curve over the steps.
std::string CurvesPlot(const MeasuredCurves& curves,
                       const std::set<std::string>& metrics, int width);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_TRIAL_CURVES_H_
