// SPDX-License-Identifier: Apache-2.0
//
// File: trial_results.h
//
// Verbs about what a trial measured and answered: its curves, confusion,
// examples and predictions.
#ifndef FROSTLINE_CLI_COMMANDS_TRIAL_RESULTS_H_
#define FROSTLINE_CLI_COMMANDS_TRIAL_RESULTS_H_

#include <set>
#include <string>
#include <vector>

#include "cli/commands/command.h"
#include "cli/commands/trial.h"
#include "frostline/v1/study.pb.h"

namespace frostline::cli {

// The measurements of trials at each step, as `trial curves` shows them.

struct MeasuredCurve {
  TrialName trial;
  v1::ListMeasurementsReply measured;
};

using MeasuredCurves = std::vector<MeasuredCurve>;

// Returns the metrics that at least one of the trials has.
std::set<std::string> MetricsIn(const MeasuredCurves& curves);

// Returns a table with a column for each trial and metric and a row for each
// step. It is empty when nothing was measured.
std::string CurvesTable(const MeasuredCurves& curves,
                        const std::set<std::string>& metrics, int width);
std::string CurvesCsv(const MeasuredCurves& curves,
                      const std::set<std::string>& metrics);

// Returns the curves as JSON: the contract's message for each, with the name of
// its trial.
std::string CurvesJson(MeasuredCurves curves,
                       const std::set<std::string>& metrics);

// Returns a plot for each metric, with a curve over the steps for each trial.
std::string CurvesPlot(const MeasuredCurves& curves,
                       const std::set<std::string>& metrics, int width);

// The verbs `frostline trial confusion`, `trial examples` and `trial
// predictions`.
void AddTrialOutcomes(CLI::App& noun, Invocation& invocation);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_TRIAL_RESULTS_H_
