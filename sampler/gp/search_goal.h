// SPDX-License-Identifier: Apache-2.0
//
// File: search_goal.h
//
// How much a trial is worth, given what is believed of it.
#ifndef FROSTLINE_SAMPLER_GP_SEARCH_GOAL_H_
#define FROSTLINE_SAMPLER_GP_SEARCH_GOAL_H_

#include "surrogate/growing_surrogate.h"

namespace frostline::sampler {

// Wanted: a loss below `best`, from a trial that does not fail.
struct SearchGoal {
  const surrogate::GrowingSurrogate* loss = nullptr;
  double best = 0.0;
  // nullptr when there was none.
  const surrogate::GrowingSurrogate* failure = nullptr;
  double failure_rate = 0.0;
  double failure_deviation = 0.0;
};

// ln of expected improvement times chance of success.
double ScoreOf(const SearchGoal& goal, const surrogate::Belief& loss,
               const surrogate::Belief& failure);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_GP_SEARCH_GOAL_H_
