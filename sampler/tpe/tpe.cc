// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/tpe.h"

#include "base/error.h"
#include "sampler/optuna/compat.h"
#include "sampler/tpe/native_tpe.h"

namespace frostline::sampler {

absl::StatusOr<std::unique_ptr<Sampler>> MakeTpeSampler(
    const SamplerInput& input) {
  if (input.options.contains("compat")) return MakeCompatTpeSampler(input);
  ASSIGN_OR_RETURN(const TpeOptions options, ReadTpeOptions(input));
  return std::make_unique<NativeTpe>(options, input);
}

absl::StatusOr<std::unique_ptr<Sampler>> MakeMotpeSampler(
    const SamplerInput& input) {
  // A wrong option is a mistake under any objectives, so it is told first.
  ASSIGN_OR_RETURN(auto sampler, MakeTpeSampler(input));
  if (input.objectives.size() < 2) {
    return MakeError(ErrorId::kSamplerInvalid,
                     "sampler motpe is for several objectives, and the study "
                     "has one",
                     "name a second objective, or use the sampler tpe",
                     "sampler.name");
  }
  return sampler;
}

}  // namespace frostline::sampler
