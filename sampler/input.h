// SPDX-License-Identifier: Apache-2.0
//
// File: input.h
//
// What a sampler is made from. One struct, so that a new thing to know changes
// no maker's signature.
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

// An earlier study to learn from (warm start). Its trials are finished ones,
// with points of the *new* study's space and values for its objectives.
struct PriorStudy {
  std::string name;
  // How much a trial of it counts, 0 … 1; 0: the sampler judges by similarity.
  double weight = 0.0;
  std::vector<Observation> trials;
};

struct SamplerInput {
  Options options;
  Space space;
  std::vector<Objective> objectives;
  std::vector<PriorStudy> prior_studies;
  // For what all trials of a study share; each trial has chance of its own.
  std::uint64_t study_seed = 0;
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_INPUT_H_
