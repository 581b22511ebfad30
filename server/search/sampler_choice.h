// SPDX-License-Identifier: Apache-2.0
//
// File: sampler_choice.h
#ifndef FROSTLINE_SERVER_SEARCH_SAMPLER_CHOICE_H_
#define FROSTLINE_SERVER_SEARCH_SAMPLER_CHOICE_H_

#include <string>
#include <vector>

#include "server/wire/spec.h"

namespace frostline::server {

// Writes into `spec` the sampler that "auto" picks, unless it has one already.
// Returns whether it wrote. The pick never changes afterwards.
bool WritePick(const CheckedStudy& study, v1::StudySpec& spec);

// Writes the purpose of a study that names none, once its sampler is picked:
// "both" where the sampler can do both, else "best". Returns whether it wrote.
bool WritePurpose(const CheckedStudy& study, v1::StudySpec& spec);

std::string ResolvedSampler(const CheckedStudy& study);

// Return how many trials at a time its sampler learns from, and how many of
// these there can still be (sampler/factory.h).
std::int64_t TeachingParallelismOf(const CheckedStudy& study,
                                   const v1::TrialCounts& counts);
std::int64_t UsefulParallelismOf(const CheckedStudy& study,
                                 const v1::TrialCounts& counts);

// Returns advice for whoever creates the study: what "auto" picked, which
// sampler would be better, and which settings have no effect.
std::vector<std::string> AdviceFor(const CheckedStudy& study);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_SEARCH_SAMPLER_CHOICE_H_
