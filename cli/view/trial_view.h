// SPDX-License-Identifier: Apache-2.0
//
// File: trial_view.h
//
// Trials as text, with the names of what a study searches, also when there is
// no trial yet to take them from.
#ifndef FROSTLINE_CLI_VIEW_TRIAL_VIEW_H_
#define FROSTLINE_CLI_VIEW_TRIAL_VIEW_H_

#include <google/protobuf/repeated_field.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cli/term/table.h"
#include "frostline/v1/study.pb.h"
#include "frostline/v1/study_service.pb.h"
#include "frostline/v1/trial.pb.h"

namespace frostline::cli {

// Returns the parameters in the space's order: "prefix_depth", then those of
// modules, ties and the other parameters. Parameters that a condition makes
// inactive are included.
std::vector<std::string> ParameterNames(const v1::StudySpec& spec);

// Returns every module that has a rate, in depth order. If the space splits a
// layer, its parts follow it. A study without a model has none.
std::vector<std::string> ModuleNames(const v1::StudySpec& spec);

// Cost of trials and savings by freezing, as lines of KeyLine(). Unknown values
// have no line.

std::string UsageLines(const v1::StudyUsage& usage);
// Returns "this study would have taken …", or "" where nothing was saved.
std::string EstimateText(const v1::StudyUsage& usage);
std::string UsageLines(const v1::Usage& usage);

// Return cells for numbers and durations with their exact values. A rate of 0
// is "frozen", a time below 0 is "".
Cell NumberCell(double value);
Cell RateCell(double rate);
Cell SecondsCell(double seconds);
Cell CountCell(std::int64_t count);

// The trials of a reply, used without a copy: copying 5,000 trials takes time.
using Trials = google::protobuf::RepeatedPtrField<v1::Trial>;

// Returns a table with objectives, time, worker and parameters, and below it
// why trials failed. `all` adds times and origins, and on demand the rates of
// modules ("rate.layer.3", needs the FULL view), usage, labels, note and cause.
// It then has every parameter and module of the spec, so that the columns do
// not depend on the trials.
Table TrialTable(const Trials& trials, const v1::StudySpec& spec, bool all);

std::string RenderTrialTable(const std::vector<v1::Trial>& trials,
                             const v1::StudySpec& spec, int width);

// Returns a heading for a list of trials that no other trial beats, with its
// newline.
std::string FrontHeading(std::size_t trials, int width);

// Returns, for a study with several objectives, the trials that no other trial
// beats in all of them.
std::string RenderFront(const std::vector<v1::Trial>& trials,
                        const v1::StudySpec& spec, int width);

// Returns a trial as text. Needs the FULL view.
std::string RenderTrial(const v1::Trial& trial, const v1::StudySpec& spec);

// Returns what training did to each module: how far it moved beside what its
// rate could move it, and its memory. Needs the FULL view.
Table AuditTable(const v1::Trial& trial);

// Returns a line for each module and marks frozen ones.
std::string RenderRates(const v1::Trial& trial);

// Returns "accuracy 0.9312, seconds 12", or "" without a result.
std::string ObjectiveText(const v1::Trial& trial, const v1::StudySpec& spec);

// Returns a line for `watch`: "trial 17  SUCCEEDED  accuracy 0.9312  12 s
// worker a".
std::string TrialLine(const v1::Trial& trial, const v1::StudySpec& spec);

// Remarks about a trial's log, besides its lines.

// Returns "attempt 2 COMPLETED; its whole log was node7:/runs/…/2.log, which …"
// as a line, for an attempt that does not run.
std::string DescribeLogPlace(const std::string& trial,
                             const v1::GetTrialLogReply& log);

// Returns a line that says why a trial without an attempt has no log: it has
// not begun, or it ended without running here.
std::string DescribeNoLog(const v1::Trial& trial);

// Returns the log as a JSON object: the answer's fields as in protobuf's JSON,
// but the lines as text. `is_line` writes it on one line.
std::string LogToJson(const std::string& trial, const v1::GetTrialLogReply& log,
                      bool is_line);

// Returns "studies/a/trials/3 is SUCCEEDED: accuracy 0.91" as a line.
std::string DescribeOutcome(const v1::Trial& trial, const v1::StudySpec& spec);

// Returns the new part of `now`, where `before` and `now` are tails of the same
// log whose positions are unknown.
std::string BeyondTail(const std::string& before, const std::string& now);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_TRIAL_VIEW_H_
