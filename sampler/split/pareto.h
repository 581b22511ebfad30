// SPDX-License-Identifier: Apache-2.0
//
// File: pareto.h
//
// The best few of many points under several objectives, all to be minimised:
// whole ranks of non-domination, and of the last rank that does not fit the
// points that cover most volume together. Each next point is the one that adds
// most to
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

// 0 for points nothing dominates, 1 for those only rank 0 dominates, and so on.
// O(n log n) with two objectives; with more, O(n log n) comparisons with whole
// fronts (efficient non-dominated sort, Zhang et al., 2015). REQUIRES: no NaN.
std::vector<int> NonDominationRanks(const LossVectors& losses);

// With constraints (Deb et al., NSGA-II, 2002, §VI): points whose violation is
// above 0 rank behind all others, the less they violate the better.
std::vector<int> NonDominationRanks(const LossVectors& losses,
                                    const std::vector<double>& violations);

// Indices of `count` points, chosen one after the other: always the one that
// adds most to the volume of those before it (reaches 1 - 1/e of the best
// choice, Nemhauser et al., 1978). Among equals the lexicographically smallest;
// twins count only when nothing else is left. REQUIRES: count <= points.size().
std::vector<std::size_t> SelectByHypervolume(
    const LossVectors& points, const std::vector<double>& reference,
    std::size_t count);

// Indices of the best `count` points: whole ranks while they fit, of the next
// rank those that SelectByHypervolume takes, up to a little beyond the rank's
// worst losses (Ozaki et al., 2020). REQUIRES: count <= losses.size().
std::vector<std::size_t> BestByHypervolume(const LossVectors& losses,
                                           std::size_t count);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_SPLIT_PARETO_H_
