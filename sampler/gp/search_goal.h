// SPDX-License-Identifier: Apache-2.0
//
// File: search_goal.h
//
// How much a trial is worth, given what is believed of its loss and of whether
// it will fail.
#ifndef FROSTLINE_SAMPLER_GP_SEARCH_GOAL_H_
#define FROSTLINE_SAMPLER_GP_SEARCH_GOAL_H_

#include "surrogate/growing_surrogate.h"

namespace frostline::sampler {

// What is wanted: a loss below `best`, from a trial that does not fail.
struct SearchGoal {
  const surrogate::GrowingSurrogate* loss = nullptr;
  double best = 0.0;
  // Of failures as targets; nullptr when there was none.
  const surrogate::GrowingSurrogate* failure = nullptr;
  double failure_rate = 0.0;
  double failure_deviation = 0.0;
};

// In logarithms: the expected improvement times the chance of success. Without
// failures `failure` does not matter.
double ScoreOf(const SearchGoal& goal, const surrogate::Belief& loss,
               const surrogate::Belief& failure);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_GP_SEARCH_GOAL_H_
