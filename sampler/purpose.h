// SPDX-License-Identifier: Apache-2.0
//
// File: purpose.h
//
// What a trial is for is a function of the study's seed, its number and the
// history.
//
//   best        every trial the wrapped sampler's
//   understand  a balanced beginning, then every trial for what it tells
//   both        a balanced beginning, then the wrapped sampler's; while the
//               search rests, a share of them for what they tell
//
// While a search rests, such trials cost it least. The share is dealt out by
// the golden ratio, so that any stretch of numbers has its part.
#ifndef FROSTLINE_SAMPLER_PURPOSE_H_
#define FROSTLINE_SAMPLER_PURPOSE_H_

#include <cstdint>
#include <vector>

#include "sampler/gp/levels.h"
#include "study/objective.h"

namespace frostline::sampler {

enum class TrialRole {
  kDesign,  // balanced over levels
  kTelling,
  kBest,
};

// So many begin a study that has no earlier one to learn from.
inline constexpr std::int64_t kDesignTrials = 10;
// Beyond it `both` is `best`: more trials tell little by then.
inline constexpr std::int64_t kMostTelling = 1000;

// A search rests when such a part of the trials with a value, and so many, came
// after the best.
inline constexpr double kRestingPart = 0.25;
inline constexpr std::size_t kRestingTrials = 25;
// So large is the share of both while the search rests.
inline constexpr double kTellingShare = 0.4;

// REQUIRES: `trials` are by rising number.
bool IsResting(const std::vector<const LedgerTrial*>& trials);

// REQUIRES: `start` is in [0, 1).
bool IsDealt(std::int64_t number, double share, double start);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PURPOSE_H_
