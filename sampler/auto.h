// SPDX-License-Identifier: Apache-2.0
//
// File: auto.h
//
// Chooses the sampler for a study by measured evidence
// (docs/measured/search.md).
#ifndef FROSTLINE_SAMPLER_AUTO_H_
#define FROSTLINE_SAMPLER_AUTO_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sampler/sampler.h"

namespace frostline::sampler {

inline constexpr const char* kPickOption = "pick";

struct SamplerChoice {
  std::string name;
  std::string why;  // one sentence, with figures where there are some
  // Says whether the figures are of spaces like this one.
  bool is_measured = true;
};

// Chooses a sampler. It is pure. A `budget_trials` of 0 is an unknown one.
SamplerChoice ChooseSampler(const Space& space,
                            const std::vector<Objective>& objectives,
                            std::int64_t budget_trials);

// Returns the name of what proposes: what `auto` picked, or tpe where levels-gp
// hands over from the start.
std::string ResolveSampler(const std::string& name, const Options& options,
                           const Space& space,
                           const std::vector<Objective>& objectives);

// A study keeps its choice in the option `pick`, so that a budget raised later
// does not change the search half-way; without it the space decides.
absl::StatusOr<std::unique_ptr<Sampler>> MakeAutoSampler(
    const SamplerInput& input);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_AUTO_H_
