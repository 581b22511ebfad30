// SPDX-License-Identifier: Apache-2.0
//
// File: factory.h
#ifndef FROSTLINE_SAMPLER_FACTORY_H_
#define FROSTLINE_SAMPLER_FACTORY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sampler/sampler.h"
#include "study/objective.h"

namespace frostline::sampler {

struct SamplerSpec {
  std::string name = "tpe";
  std::map<std::string, std::string> options;
  std::uint64_t seed = 0;
  // Changes nothing if ServesPurpose says no.
  Purpose purpose = Purpose::kBest;
};

// Makes a sampler. Fails with SAMPLER_INVALID for an unknown name or option,
// and with SPACE_TOO_LARGE if the space does not fit; both say what to do
// instead.
absl::StatusOr<std::unique_ptr<Sampler>> MakeSampler(
    const SamplerSpec& spec, const Space& space,
    const std::vector<Objective>& objectives,
    std::vector<PriorStudy> prior_studies = {});

// Says whether a purpose other than `best` changes what is proposed.
bool ServesPurpose(const SamplerSpec& spec, const Space& space,
                   const std::vector<Objective>& objectives);

std::vector<std::string> SamplerNames();

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_FACTORY_H_
