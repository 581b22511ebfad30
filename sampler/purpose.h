// SPDX-License-Identifier: Apache-2.0
//
// File: purpose.h
//
// Decides what a trial is for, from the seed of the study, the number of the
// trial and the history.
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
#include <memory>
#include <vector>

#include "base/rng.h"
#include "sampler/gp/levels.h"
#include "sampler/sampler.h"
#include "study/objective.h"
#include "study/space.h"
#include "surrogate/rows.h"

namespace frostline::sampler {

enum class TrialRole {
  kDesign,  // balanced over levels
  kTelling,
  kBest,
};

// The number of trials that begin a study without an earlier one to learn from.
inline constexpr std::int64_t kDesignTrials = 10;
// Beyond it `both` is `best`: more trials tell little by then.
inline constexpr std::int64_t kMostTelling = 1000;

// A search rests if this part of the trials with a value, and at least this
// many, came after the best one.
inline constexpr double kRestingPart = 0.25;
inline constexpr std::size_t kRestingTrials = 25;
// The share of such trials in `both` while the search rests.
inline constexpr double kTellingShare = 0.4;

// REQUIRES: `trials` are by rising number.
bool IsResting(const std::vector<const LedgerTrial*>& trials);

// REQUIRES: `start` is in [0, 1).
bool IsDealt(std::int64_t number, double share, double start);

// Values do not matter: running and failed trials count too, lest a corner that
// always fails is asked again.
//
//   design   each level as often as the others, and pairs of levels as often
//            as can be (SpreadDraw of levels.h)
//   telling  of some random points the one that takes most off the variance of
//            main effects (surrogate/surrogate.h)
using TrialList = std::vector<const LedgerTrial*>;

// A maker of such points for one proposal. It keeps references.
class SpreadPoints {
 public:
  SpreadPoints(const Space& space, const std::vector<LevelAxis>& axes);

  // The points are ones that no trial has, while the space has one.
  Point Design(const TrialList& trials, Rng& rng) const;
  Point Telling(const TrialList& trials, Rng& rng) const;

 private:
  const Space& space_;
  const std::vector<LevelAxis>& axes_;
  std::vector<surrogate::Axis> measured_;
};

// A trial is of a balanced beginning, chosen for what it tells, or the wrapped
// sampler's own, which sees all trials.

// Says whether a sampler can serve a purpose. True for samplers that learn, of
// one objective, over a space that can be cut into cells. `compat` stays as it
// is, being Optuna's to the bit.
bool CanServePurpose(const std::string& sampler, const SamplerInput& input);

// REQUIRES: CanServePurpose is true.
std::unique_ptr<Sampler> MakePurposeSampler(Purpose purpose,
                                            const SamplerInput& input,
                                            std::unique_ptr<Sampler> wrapped);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PURPOSE_H_
