// SPDX-License-Identifier: Apache-2.0
#include "sampler/gp/search_goal.h"

#include <algorithm>
#include <cmath>

#include "sampler/draw/truncated_normal.h"
#include "sampler/gp/improvement.h"

namespace frostline::sampler {
namespace {

// How much of the noise counts as a chance to improve. With none of it search
// goes after what it knows least, with all of it after what it believes best.
constexpr double kNoiseShare = 0.5;

// A regression on 0 and 1 is no probability: the step from "will do" to "will
// fail" is at a half, this wide. Chance failures, wherever they fall, stay well
// below it.
constexpr double kFailureSlack = 0.1;
// Beyond this a trial is only made when there is nothing else left, however
// small the improvement elsewhere.
constexpr double kHopeless = 0.75;

}  // namespace

double ScoreOf(const SearchGoal& goal, const PointBeliefs& beliefs) {
  double score = 0.0;
  if (goal.has_best) {
    // What will be seen is noisy, as what it has to beat was.
    const double noise = kNoiseShare * goal.loss->kernel().noise;
    const double deviation =
        std::sqrt(std::max(beliefs.loss.variance, 1e-12) + noise);
    score = LogExpectedImprovement(beliefs.loss.mean, deviation, goal.best);
  }
  for (std::size_t c = 0; c < goal.constraints.size(); ++c) {
    const ConstraintGoal& constraint = goal.constraints[c];
    const surrogate::Belief& value = beliefs.constraints[c];
    const double variance =
        std::max(value.variance, 1e-12) + constraint.value->kernel().noise;
    score +=
        LogNormalCdf((constraint.bound - value.mean) / std::sqrt(variance));
  }
  if (goal.failure != nullptr) {
    const double chance =
        goal.failure_rate + goal.failure_deviation * beliefs.failure.mean;
    score += LogNormalCdf((0.5 - chance) / kFailureSlack);
    if (chance > kHopeless) score -= 1e6 * (chance - kHopeless);
  }
  return score;
}

}  // namespace frostline::sampler
