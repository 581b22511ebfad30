// SPDX-License-Identifier: Apache-2.0
//
// File: sampler_choice.h
//
// What sampler a study runs: what "auto" stands for, and whether another would
// do better than the one it names.
#ifndef FROSTLINE_SERVER_SEARCH_SAMPLER_CHOICE_H_
#define FROSTLINE_SERVER_SEARCH_SAMPLER_CHOICE_H_

#include <string>
#include <vector>

#include "server/wire/spec_check.h"

namespace frostline::server {

// Writes into `spec` what "auto" picks for this study, unless that is written
// there already; whether it did. From then on it is a part of the study and
// never changes.
bool WritePick(const CheckedStudy& study, v1::StudySpec& spec);

// The same of a purpose that was left open: both where the sampler can, else
// best. Of a study whose sampler is picked.
bool WritePurpose(const CheckedStudy& study, v1::StudySpec& spec);

// The name of the sampler that does the work.
std::string ResolvedSampler(const CheckedStudy& study);

// Sentences for whoever creates the study; none when it names the best.
std::vector<std::string> AdviceFor(const CheckedStudy& study);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_SEARCH_SAMPLER_CHOICE_H_
