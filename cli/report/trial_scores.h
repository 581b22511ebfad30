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

// The study's first objective, by which reports order.
const v1::Objective& FirstObjective(const StudyRecord& record);
bool IsBetter(const v1::Objective& objective, double a, double b);

// Those that succeeded, the best first, of equals the earlier. They belong to
// the record.
std::vector<const v1::Trial*> ByScore(const StudyRecord& record);

// "Best trial: 14, accuracy 0.709, …": that this was seen in one run, and where
// its point was run again the mean of all of them. "" where no trial succeeded.
std::string BestTrialSentence(const StudyRecord& record);

// Of `trials` those that no other beats both in score and in cost.
std::vector<const v1::Trial*> FrontBy(
    const std::vector<const v1::Trial*>& trials, const v1::Objective& objective,
    double (*cost)(const v1::Trial&));

double TrainedParametersOf(const v1::Trial& trial);
double SecondsOfTrial(const v1::Trial& trial);

// Null where the trial has no such module.
const v1::ModuleRate* RateOf(const v1::Trial& trial, const std::string& module);

// Tables of a report: rounded as people read them, and in full as CSV.

ReportTable PlanTable(const v1::FreezePlan& plan);
ReportTable ImportanceTable(const v1::ImportanceReport& report);
ReportTable FrontierTable(const v1::Frontier& frontier);
// All trials, by number, with the rate of every module.
ReportTable TrialsTable(const StudyRecord& record);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_REPORT_TRIAL_SCORES_H_
