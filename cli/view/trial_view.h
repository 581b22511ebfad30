// SPDX-License-Identifier: Apache-2.0
//
// File: trial_view.h
#ifndef FROSTLINE_CLI_VIEW_TRIAL_VIEW_H_
#define FROSTLINE_CLI_VIEW_TRIAL_VIEW_H_

#include <string>
#include <vector>

#include "frostline/v1/study.pb.h"
#include "frostline/v1/trial.pb.h"

namespace frostline::cli {

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
