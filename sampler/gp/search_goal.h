// SPDX-License-Identifier: Apache-2.0
//
// File: search_goal.h
#ifndef FROSTLINE_SAMPLER_GP_SEARCH_GOAL_H_
#define FROSTLINE_SAMPLER_GP_SEARCH_GOAL_H_

#include "surrogate/growing_surrogate.h"

namespace frostline::sampler {

// The goal is a loss below `best`, from a trial that does not fail.
struct SearchGoal {
  const surrogate::GrowingSurrogate* loss = nullptr;
  double best = 0.0;
  // It is nullptr when no trial failed.
  const surrogate::GrowingSurrogate* failure = nullptr;
  double failure_rate = 0.0;
  double failure_deviation = 0.0;
};

// Returns ln of expected improvement times chance of success.
double ScoreOf(const SearchGoal& goal, const surrogate::Belief& loss,
               const surrogate::Belief& failure);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_GP_SEARCH_GOAL_H_
