// SPDX-License-Identifier: Apache-2.0
//
// File: purpose_sampler.h
//
// A sampler around another one, for studies that are to find a good point and
// to say why it is good. By its number and the history, a trial is of a
// balanced beginning, chosen for what it tells, or the wrapped sampler's own
// (trial_role.h, spread_points.h). The wrapped sampler sees all trials.
#ifndef FROSTLINE_SAMPLER_PURPOSE_PURPOSE_SAMPLER_H_
#define FROSTLINE_SAMPLER_PURPOSE_PURPOSE_SAMPLER_H_

#include <memory>

#include "sampler/input.h"
#include "sampler/sampler.h"
#include "study/purpose.h"

namespace frostline::sampler {

// Whether a purpose other than `best` changes anything for a sampler of this
// name and these options: one that learns, of one objective, over a space whose
// parameters can be cut into cells. Those that cover a space or draw without
// learning, and `compat`, which is to be Optuna's to the bit, stay as they are.
bool CanServePurpose(const std::string& sampler, const SamplerInput& input);

// REQUIRES: CanServePurpose.
std::unique_ptr<Sampler> MakePurposeSampler(Purpose purpose,
                                            const SamplerInput& input,
                                            std::unique_ptr<Sampler> wrapped);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PURPOSE_PURPOSE_SAMPLER_H_
