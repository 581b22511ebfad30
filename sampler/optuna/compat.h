// SPDX-License-Identifier: Apache-2.0
//
// File: compat.h
//
// `tpe` with the option `compat` proposes what Optuna's TPESampler would have,
// v4 (4.9) or v5 (5.0). docs/reference/samplers.md has the options.
#ifndef FROSTLINE_SAMPLER_OPTUNA_COMPAT_H_
#define FROSTLINE_SAMPLER_OPTUNA_COMPAT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "sampler/input.h"
#include "sampler/optuna/compat_tpe.h"
#include "sampler/sampler.h"

namespace frostline::sampler {

// Answers SAMPLER_INVALID for a wrong option, or `group` without
// `multivariate`. Earlier studies are not read: Optuna has no warm start.
absl::StatusOr<std::unique_ptr<Sampler>> MakeCompatTpeSampler(
    const SamplerInput& input);

// REQUIRES: the option `compat` is given.
absl::StatusOr<CompatOptions> ReadCompatOptions(const SamplerInput& input);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_OPTUNA_COMPAT_H_
