// SPDX-License-Identifier: Apache-2.0
//
// File: useful_parallelism.h
//
// A proposal made beside p - 1 others knows the results of n trials and not of
// those p - 1; one made alone would have known all. With p at most half of n it
// knows two thirds or more of what it could; that share is chosen, not
// measured. Before there is a result, as many as the sampler draws without
// looking lose nothing at all:
//
//   useful = min(left, max(startup, n / 2))
//
// What does not look at results (random, qmc, grid, brute, and trials chosen
// for what they tell) can use as many as are left.
//
//   200 trials of levels-gp, 13 modules: 14 at first, 50 after 100 results
#ifndef FROSTLINE_SAMPLER_USEFUL_PARALLELISM_H_
#define FROSTLINE_SAMPLER_USEFUL_PARALLELISM_H_

#include <cstdint>
#include <vector>

#include "sampler/factory.h"
#include "study/objective.h"
#include "study/space.h"

namespace frostline::sampler {

struct TrialCounts {
  std::int64_t results = 0;  // ended with a value, or pruned
  std::int64_t ended = 0;    // in whatever way
  std::int64_t budget = 0;
};

// So many trials at a time teach; more of them begin blind. It is at least 0,
// rises with results and falls as the budget ends. Is pure, and cheap.
std::int64_t UsefulParallelism(const SamplerSpec& spec, const Space& space,
                               const std::vector<Objective>& objectives,
                               const TrialCounts& trials);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_USEFUL_PARALLELISM_H_
