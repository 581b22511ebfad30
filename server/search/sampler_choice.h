// SPDX-License-Identifier: Apache-2.0
//
// File: sampler_choice.h
#ifndef FROSTLINE_SERVER_SEARCH_SAMPLER_CHOICE_H_
#define FROSTLINE_SERVER_SEARCH_SAMPLER_CHOICE_H_

#include <string>
#include <vector>

#include "server/wire/spec.h"

namespace frostline::server {

// Writes into `spec` what "auto" picks, unless a pick is there, and says
// whether it did. The pick never changes from then on.
bool WritePick(const CheckedStudy& study, v1::StudySpec& spec);

// Does the same for an open purpose, once the sampler is picked: both where it
// can, else best.
bool WritePurpose(const CheckedStudy& study, v1::StudySpec& spec);

std::string ResolvedSampler(const CheckedStudy& study);

// Say how many trials at a time its sampler learns from, and how many of them
// there still can be (sampler/useful_parallelism.h).
std::int64_t TeachingParallelismOf(const CheckedStudy& study,
                                   const v1::TrialCounts& counts);
std::int64_t UsefulParallelismOf(const CheckedStudy& study,
                                 const v1::TrialCounts& counts);

// Tells whoever creates the study what "auto" is, which sampler would be
// better, and what has no effect.
std::vector<std::string> AdviceFor(const CheckedStudy& study);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_SEARCH_SAMPLER_CHOICE_H_
