// SPDX-License-Identifier: Apache-2.0
//
// File: auto.h
//
// Which sampler a study should use, by measured evidence
// (docs/measured/search.md), and the sampler `auto`, which uses it.
#ifndef FROSTLINE_SAMPLER_AUTO_H_
#define FROSTLINE_SAMPLER_AUTO_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sampler/input.h"
#include "sampler/sampler.h"

namespace frostline::sampler {

// The option that tells MakeAutoSampler what was chosen.
inline constexpr const char* kPickOption = "pick";

struct SamplerChoice {
  std::string name;  // as the factory knows it
  std::string why;   // one sentence, with figures where there are some
  // Whether the figures are of spaces like this one.
  bool is_measured = true;
};

// `budget_trials`: how many trials there will be; 0: unknown. Pure.
SamplerChoice ChooseSampler(const Space& space,
                            const std::vector<Objective>& objectives,
                            std::int64_t budget_trials);

// Option `pick`: the choice, once made. A study keeps it, so that a budget
// which is raised later does not change the search half-way. Without it the
// space alone decides. All other options are the picked sampler's.
absl::StatusOr<std::unique_ptr<Sampler>> MakeAutoSampler(
    const SamplerInput& input);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_AUTO_H_
