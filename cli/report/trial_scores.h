// SPDX-License-Identifier: Apache-2.0
//
// File: trial_scores.h
#ifndef FROSTLINE_CLI_REPORT_TRIAL_SCORES_H_
#define FROSTLINE_CLI_REPORT_TRIAL_SCORES_H_

#include <string>
#include <vector>

#include "cli/report/report_page.h"
#include "cli/report/study_record.h"

namespace frostline::cli {

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

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_REPORT_TRIAL_SCORES_H_
