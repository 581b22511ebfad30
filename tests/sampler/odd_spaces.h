// SPDX-License-Identifier: Apache-2.0
//
// File: odd_spaces.h
//
// Spaces and histories as no careful person would make them, by seed: every
// kind of domain and condition, and trials that failed, were pruned, still run,
// are of another space or have extreme values.
#ifndef FROSTLINE_TESTS_SAMPLER_ODD_SPACES_H_
#define FROSTLINE_TESTS_SAMPLER_ODD_SPACES_H_

#include "base/rng.h"
#include "study/history.h"
#include "study/objective.h"
#include "study/space.h"

namespace frostline::sampler {

// 1 … 6 parameters, some with conditions. With `finite`, of at most a few
// thousand points.
Space OddSpace(Rng& rng, bool finite);

std::vector<Objective> OddObjectives(Rng& rng);

// Trials 0, 1, 2, … in a shuffled order; some are put twice.
History OddHistory(const Space& space, std::size_t objectives, int trials,
                   Rng& rng);

// A valid point, drawn in a way of its own.
Point OddPoint(const Space& space, Rng& rng);

}  // namespace frostline::sampler

#endif  // FROSTLINE_TESTS_SAMPLER_ODD_SPACES_H_
