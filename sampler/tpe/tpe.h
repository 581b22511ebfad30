// SPDX-License-Identifier: Apache-2.0
//
// File: tpe.h
//
// The tree-structured Parzen estimator (Bergstra et al., 2011, §4; 2013): the
// trials are split into the good tenth and the rest (split.h), each side
// becomes a density over the space, l and g (parzen.h), and of some candidates
// drawn from l the one with the largest l/g is proposed, which is the one of
// largest expected improvement (Bergstra et al., 2011, §4.1).
//
// Parameters with the same condition form a block. A block is drawn together
// (multivariate) from the trials in which it was active, parents before
// children.
//
// Options: startup_trials (10): random until so many trials have ended;
// candidates (24); multivariate (true, with several objectives false);
// constant_liar (true): running trials count as bad ones; frozen_share (0.2):
// the prior probability that a log-uniform rate is frozen.
#ifndef FROSTLINE_SAMPLER_TPE_TPE_H_
#define FROSTLINE_SAMPLER_TPE_TPE_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "sampler/input.h"
#include "sampler/sampler.h"

namespace frostline {

absl::StatusOr<std::unique_ptr<Sampler>> MakeTpeSampler(
    const SamplerInput& input);

}  // namespace frostline

#endif  // FROSTLINE_SAMPLER_TPE_TPE_H_
