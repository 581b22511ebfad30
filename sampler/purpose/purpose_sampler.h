// SPDX-License-Identifier: Apache-2.0
//
// File: purpose_sampler.h
//
// A trial is of a balanced beginning, chosen for what it tells, or the wrapped
// sampler's own (purpose.h), which sees all trials.
#ifndef FROSTLINE_SAMPLER_PURPOSE_PURPOSE_SAMPLER_H_
#define FROSTLINE_SAMPLER_PURPOSE_PURPOSE_SAMPLER_H_

#include <memory>

#include "sampler/input.h"
#include "sampler/sampler.h"
#include "study/objective.h"

namespace frostline::sampler {

// Holds for samplers that learn, of one objective, over a space that can be cut
// into cells. `compat` stays as it is, being Optuna's to the bit.
bool CanServePurpose(const std::string& sampler, const SamplerInput& input);

// REQUIRES: CanServePurpose is true.
std::unique_ptr<Sampler> MakePurposeSampler(Purpose purpose,
                                            const SamplerInput& input,
                                            std::unique_ptr<Sampler> wrapped);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PURPOSE_PURPOSE_SAMPLER_H_
