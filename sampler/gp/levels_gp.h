// SPDX-License-Identifier: Apache-2.0
//
// File: levels_gp.h
//
// To this Gaussian process levels are ordered, frozen is its own kind, and
// effects mostly add up (surrogate/rows.h). The next trial has the largest
// expected improvement over the best loss (improvement.h, level_search.h).
//
//   failed, infeasible   a second process learns where; its chance of success
//                        multiplies the improvement
//   running              rows without a target: no two proposals collapse
//   pruned               the last report, believed less than a final loss
//   earlier studies      rows of another study, with a learnt tie
//   switched off         as frozen
//
// TPE proposes with several objectives, a categorical of more than kLineCells
// choices, more than kMostParametersOfGp parameters, and beyond max_trials
// (1,200). Until startup_trials (parameters + 1, between 10 and 16) have a
// loss, every level is drawn equally often.
#ifndef FROSTLINE_SAMPLER_GP_LEVELS_GP_H_
#define FROSTLINE_SAMPLER_GP_LEVELS_GP_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "sampler/input.h"
#include "sampler/sampler.h"

namespace frostline::sampler {

// Of more it was not shown to find more than tpe does, at more seconds.
inline constexpr int kMostParametersOfGp = 64;

// Answers false where tpe proposes every trial.
bool CanServeLevelsGp(const Space& space,
                      const std::vector<Objective>& objectives);

std::int64_t UsualStartupOfLevelsGp(const Space& space);

absl::StatusOr<std::unique_ptr<Sampler>> MakeLevelsGpSampler(
    const SamplerInput& input);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_GP_LEVELS_GP_H_
