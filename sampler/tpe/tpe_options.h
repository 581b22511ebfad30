// SPDX-License-Identifier: Apache-2.0
//
// File: tpe_options.h
//
// docs/reference/samplers.md has the options.
#ifndef FROSTLINE_SAMPLER_TPE_TPE_OPTIONS_H_
#define FROSTLINE_SAMPLER_TPE_TPE_OPTIONS_H_

#include "absl/status/statusor.h"
#include "sampler/input.h"

namespace frostline::sampler {

struct TpeOptions {
  std::size_t startup_trials = 10;
  bool spread_startup = true;  // away from each other, not just random
  std::size_t candidates = 32;
  int improve = 1;  // rounds of better neighbours
  bool multivariate = true;
  bool ordinal = true;
  bool learn_frozen = true;  // how far frozen is from the lowest rate
  bool rank_weights = true;
  bool constant_liar = true;
  bool avoid_failures = true;
  bool cost_aware = false;
  bool warm_start = true;
  // So many are for a point; 0 is any number.
  std::size_t tries = 1;
  double frozen_share = 0.2;
  std::size_t kernels = 256;  // of trials that are not good, at most
};

// Answers SAMPLER_INVALID for an unknown option or a wrong value.
absl::StatusOr<TpeOptions> ReadTpeOptions(const SamplerInput& input);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_TPE_TPE_OPTIONS_H_
