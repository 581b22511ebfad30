// SPDX-License-Identifier: Apache-2.0
#include "sampler/factory.h"

#include <array>
#include <utility>

#include "base/error.h"
#include "sampler/auto.h"
#include "sampler/draw/finite.h"
#include "sampler/draw/grid.h"
#include "sampler/draw/qmc.h"
#include "sampler/draw/random.h"
#include "sampler/gp/levels_gp.h"
#include "sampler/purpose.h"
#include "sampler/tpe/tpe.h"

namespace frostline::sampler {
namespace {

struct SamplerKind {
  const char* name;
  absl::StatusOr<std::unique_ptr<Sampler>> (*make)(const SamplerInput& input);
};

// Sorted by name. A new sampler is one row here and one pair of files.
constexpr std::array kSamplers = {
    SamplerKind{"auto", MakeAutoSampler},
    SamplerKind{"brute", MakeBruteForceSampler},
    SamplerKind{"grid", MakeGridSampler},
    SamplerKind{"levels-gp", MakeLevelsGpSampler},
    SamplerKind{"motpe", MakeMotpeSampler},
    SamplerKind{"qmc", MakeQmcSampler},
    SamplerKind{"random", MakeRandomSampler},
    SamplerKind{"tpe", MakeTpeSampler},
};

}  // namespace

absl::StatusOr<std::unique_ptr<Sampler>> MakeSampler(
    const SamplerSpec& spec, const Space& space,
    const std::vector<Objective>& objectives,
    std::vector<PriorStudy> prior_studies) {
  const SamplerInput input{.options = spec.options,
                           .space = space,
                           .objectives = objectives,
                           .prior_studies = std::move(prior_studies),
                           .study_seed = spec.seed};
  for (const SamplerKind& kind : kSamplers) {
    if (spec.name != kind.name) continue;
    ASSIGN_OR_RETURN(std::unique_ptr<Sampler> sampler, kind.make(input));
    if (spec.purpose == Purpose::kBest || !CanServePurpose(spec.name, input)) {
      return sampler;
    }
    return MakePurposeSampler(spec.purpose, input, std::move(sampler));
  }
  return UnknownName(ErrorId::kSamplerInvalid, "sampler", spec.name,
                     SamplerNames(), "sampler.name");
}

bool ServesPurpose(const SamplerSpec& spec, const Space& space,
                   const std::vector<Objective>& objectives) {
  return CanServePurpose(spec.name, {.options = spec.options,
                                     .space = space,
                                     .objectives = objectives,
                                     .prior_studies = {},
                                     .study_seed = spec.seed});
}

std::vector<std::string> SamplerNames() {
  std::vector<std::string> names;
  names.reserve(kSamplers.size());
  for (const SamplerKind& kind : kSamplers) names.push_back(kind.name);
  return names;
}

}  // namespace frostline::sampler
