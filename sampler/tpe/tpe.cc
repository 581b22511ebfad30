// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/tpe.h"

#include "base/status_macros.h"
#include "sampler/optuna/compat.h"
#include "sampler/tpe/native_tpe.h"

namespace frostline::sampler {

absl::StatusOr<std::unique_ptr<Sampler>> MakeTpeSampler(
    const SamplerInput& input) {
  if (input.options.contains("compat")) return MakeCompatTpeSampler(input);
  ASSIGN_OR_RETURN(const TpeOptions options, ReadTpeOptions(input));
  return std::make_unique<NativeTpe>(options, input);
}

}  // namespace frostline::sampler
