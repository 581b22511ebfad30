// SPDX-License-Identifier: Apache-2.0
//
// File: factory.h
//
// From a name to a sampler: the only file that grows when one is added.
#ifndef FROSTLINE_SAMPLER_FACTORY_H_
#define FROSTLINE_SAMPLER_FACTORY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sampler/input.h"
#include "sampler/sampler.h"
#include "study/purpose.h"

namespace frostline::sampler {

struct SamplerSpec {
  std::string name = "tpe";
  // Options by name, e.g. {"startup_trials", "20"}. An unknown one is refused.
  std::map<std::string, std::string> options;
  // The study's seed: SamplerInput::study_seed.
  std::uint64_t seed = 0;
  // Changes nothing where ServesPurpose says no (purpose/purpose_sampler.h).
  Purpose purpose = Purpose::kBest;
};

// The sampler keeps its own copy of `space` and `objectives`. SAMPLER_INVALID
// for an unknown name or option, SPACE_TOO_LARGE when the space does not fit it
// (a grid of more than 10^6 points); both name what is there instead.
absl::StatusOr<std::unique_ptr<Sampler>> MakeSampler(
    const SamplerSpec& spec, const Space& space,
    const std::vector<Objective>& objectives,
    std::vector<PriorStudy> prior_studies = {});

// Whether a purpose other than `best` changes what this sampler proposes; where
// it does not, it is ignored.
bool ServesPurpose(const SamplerSpec& spec, const Space& space,
                   const std::vector<Objective>& objectives);

// What MakeSampler knows, sorted; for messages and help.
std::vector<std::string> SamplerNames();

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_FACTORY_H_
