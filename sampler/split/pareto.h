// SPDX-License-Identifier: Apache-2.0
//
// File: pareto.h
//
// The best points under several objectives, all minimised, are whole ranks of
// non-domination, then points of the next rank one by one, each adding most to
//
//   V(S) = volume of what some point of S dominates, up to a reference
//
//   (1, 3), (2, 2), (3, 1): rank 0;  (3, 3): rank 1, for (2, 2) dominates it
#ifndef FROSTLINE_SAMPLER_SPLIT_PARETO_H_
#define FROSTLINE_SAMPLER_SPLIT_PARETO_H_

#include <cstddef>
#include <vector>

#include "sampler/split/pareto_volume.h"

namespace frostline::sampler {

// Ranks are from 0, for points nothing dominates. They cost O(n log n)
// comparisons of points with two objectives, else of points with whole fronts
// (Zhang et al., 2015). REQUIRES: no loss is NaN.
std::vector<int> NonDominationRanks(const LossVectors& losses);

// Points whose violation is above 0 rank behind all others, the least first
// (Deb et al., NSGA-II, 2002, §VI).
std::vector<int> NonDominationRanks(const LossVectors& losses,
                                    const std::vector<double>& violations);

// Indices are in the order of choice; the volume is at least 1 - 1/e of the
// best (Nemhauser et al., 1978). Ties go to the lexicographically smallest,
// twins come last. REQUIRES: count <= points.size().
std::vector<std::size_t> SelectByHypervolume(
    const LossVectors& points, const std::vector<double>& reference,
    std::size_t count);

// Returns indices. The reference is a little beyond the worst losses of the
// rank that does not fit (Ozaki et al., 2020). REQUIRES: count <=
// losses.size().
std::vector<std::size_t> BestByHypervolume(const LossVectors& losses,
                                           std::size_t count);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_SPLIT_PARETO_H_
