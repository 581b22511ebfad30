// SPDX-License-Identifier: Apache-2.0
//
// File: input.h
#ifndef FROSTLINE_SAMPLER_INPUT_H_
#define FROSTLINE_SAMPLER_INPUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "sampler/options.h"
#include "study/history.h"
#include "study/objective.h"
#include "study/space.h"

namespace frostline::sampler {

// Its trials are finished, with points of the *new* study's space and values
// for its objectives.
struct PriorStudy {
  std::string name;
  // The trials count so much, 0 … 1; at 0 the sampler judges by similarity.
  double weight = 0.0;
  std::vector<Observation> trials;
};

struct SamplerInput {
  Options options;
  Space space;
  std::vector<Objective> objectives;
  std::vector<PriorStudy> prior_studies;
  // It seeds what all trials share.
  std::uint64_t study_seed = 0;
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_INPUT_H_
