// SPDX-License-Identifier: Apache-2.0
//
// File: levels_gp.h
//
// Search by a Gaussian process that knows what learning rates of modules are
// like: levels are ordered, frozen is its own kind, and effects mostly add up
// (surrogate/axis.h). The next trial is the one of largest expected improvement
// over the best loss believed in (improvement.h), found by moves along one
// module after the other (level_search.h). It costs more time than TPE, and far
// fewer trials.
//
//   failed, infeasible   a second process learns where; its chance of success
//                        multiplies the improvement
//   running              rows without a target: no two proposals collapse
//   pruned               the last report, believed less than a final loss
//   earlier studies      rows of another study, with a learnt tie
//   switched off         as frozen
//
// One objective only. With several, with a categorical of more choices than
// kLineCells, and beyond max_trials trials, native TPE proposes.
//
// Options: startup_trials (parameters + 1, between 10 and 16): random, every
// level equally often, until so many trials have a loss; max_trials (1,200):
// beyond it TPE takes over.
#ifndef FROSTLINE_SAMPLER_GP_LEVELS_GP_H_
#define FROSTLINE_SAMPLER_GP_LEVELS_GP_H_

#include <memory>

#include "absl/status/statusor.h"
#include "sampler/input.h"
#include "sampler/sampler.h"

namespace frostline::sampler {

absl::StatusOr<std::unique_ptr<Sampler>> MakeLevelsGpSampler(
    const SamplerInput& input);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_GP_LEVELS_GP_H_
