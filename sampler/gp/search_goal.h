// SPDX-License-Identifier: Apache-2.0
//
// File: search_goal.h
#ifndef FROSTLINE_SAMPLER_GP_SEARCH_GOAL_H_
#define FROSTLINE_SAMPLER_GP_SEARCH_GOAL_H_

#include <vector>

#include "surrogate/growing_surrogate.h"

namespace frostline::sampler {

// A constraint is kept where what it measures is at most `bound`.
struct ConstraintGoal {
  const surrogate::GrowingSurrogate* value = nullptr;
  double bound = 0.0;
};

// The goal is a loss below `best`, from a trial that does not fail and keeps
// each constraint.
struct SearchGoal {
  const surrogate::GrowingSurrogate* loss = nullptr;
  double best = 0.0;
  // Until one trial has kept all constraints there is no loss to beat: the goal
  // is to keep them.
  bool has_best = true;
  // It is nullptr when no trial failed.
  const surrogate::GrowingSurrogate* failure = nullptr;
  double failure_rate = 0.0;
  double failure_deviation = 0.0;
  std::vector<ConstraintGoal> constraints;  // that some trial has broken
};

struct PointBeliefs {
  surrogate::Belief loss;
  surrogate::Belief failure;
  std::vector<surrogate::Belief> constraints;  // as the goal's
};

// Returns ln of expected improvement times chance of success times chance of
// each constraint (Gardner et al., ICML 2014, eq. 6).
double ScoreOf(const SearchGoal& goal, const PointBeliefs& beliefs);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_GP_SEARCH_GOAL_H_
