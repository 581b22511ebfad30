// SPDX-License-Identifier: Apache-2.0
//
// File: trial_view.h
//
// What a study searches, by the names that its trials use: also where no trial
// is there that says them.
#ifndef FROSTLINE_CLI_VIEW_TRIAL_VIEW_H_
#define FROSTLINE_CLI_VIEW_TRIAL_VIEW_H_

#include <google/protobuf/repeated_field.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cli/term/table.h"
#include "frostline/v1/study.pb.h"
#include "frostline/v1/trial.pb.h"

namespace frostline::cli {

// In the space's order: "prefix_depth" before those of modules, then ties and
// the other parameters, whether or not a condition makes them inactive.
std::vector<std::string> ParameterNames(const v1::StudySpec& spec);

// Of every module that has a rate, in depth order; the parts of a layer that
// the space cuts come behind it. A study without a model has none.
std::vector<std::string> ModuleNames(const v1::StudySpec& spec);

// What trials cost and what freezing saved, as lines of KeyLine(). What nobody
// said has no line.

std::string UsageLines(const v1::StudyUsage& usage);
std::string UsageLines(const v1::Usage& usage);

// Numbers and durations with their exact values beside them; a rate of 0 is
// "frozen", a time below 0 is "".
Cell NumberCell(double value);
Cell RateCell(double rate);
Cell SecondsCell(double seconds);
Cell CountCell(std::int64_t count);

// As a reply has them: a copy of 5,000 whole trials takes its time.
using Trials = google::protobuf::RepeatedPtrField<v1::Trial>;

// Objectives, time, worker, parameters; below them why trials failed. `all`:
// also when they ran and whence they are, and on demand the rates of modules
// ("rate.layer.3", of the FULL view), usage, labels, note and cause. It has
// then every parameter and module of the spec too, so that a column does not
// depend on which trials are shown.
Table TrialTable(const Trials& trials, const v1::StudySpec& spec, bool all);

std::string RenderTrialTable(const std::vector<v1::Trial>& trials,
                             const v1::StudySpec& spec, int width);

// What a list of trials that none beats is, with its newline.
std::string FrontHeading(std::size_t trials, int width);

// Of a study with several objectives: the trials that none beats in all.
std::string RenderFront(const std::vector<v1::Trial>& trials,
                        const v1::StudySpec& spec, int width);

// Takes the FULL view.
std::string RenderTrial(const v1::Trial& trial, const v1::StudySpec& spec);

// Has a line for each module, and marks frozen ones.
std::string RenderRates(const v1::Trial& trial);

// Writes "accuracy 0.9312, seconds 12", or "" without a result.
std::string ObjectiveText(const v1::Trial& trial, const v1::StudySpec& spec);

// Writes for `watch`: "trial 17  SUCCEEDED  accuracy 0.9312  12 s  worker a".
std::string TrialLine(const v1::Trial& trial, const v1::StudySpec& spec);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_TRIAL_VIEW_H_
