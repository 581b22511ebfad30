// SPDX-License-Identifier: Apache-2.0
//
// File: compat.h
//
// The sampler tpe with the option `compat`: what Optuna's TPESampler would have
// proposed, in the version named, v4 (4.9) or v5 (5.0). For those who compare,
// and who go on with a study that Optuna began; without the option tpe is the
// better sampler.
//
// Each trial has a stream of its own (a seed drawn from the study's), where
// Optuna goes on with one; given one stream, the same algorithm repeats whole
// runs of Optuna (compat_tpe.h).
//
// Options, with the defaults of v4 / v5: startup_trials (10); candidates (24);
// multivariate (false / true, with several objectives false); group (false);
// constant_liar (false / true); levels = categorical (default: learning-rate
// levels are unordered choices) or int (their indices are integers).
#ifndef FROSTLINE_SAMPLER_OPTUNA_COMPAT_H_
#define FROSTLINE_SAMPLER_OPTUNA_COMPAT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "sampler/input.h"
#include "sampler/optuna/compat_tpe.h"
#include "sampler/sampler.h"

namespace frostline::sampler {

// SAMPLER_INVALID for a wrong option, `group` without `multivariate` among
// them. Earlier studies are not read: Optuna has no warm start.
absl::StatusOr<std::unique_ptr<Sampler>> MakeCompatTpeSampler(
    const SamplerInput& input);

// What the options say. REQUIRES: `compat` is among them.
absl::StatusOr<CompatOptions> ReadCompatOptions(const SamplerInput& input);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_OPTUNA_COMPAT_H_
