// SPDX-License-Identifier: Apache-2.0
//
// File: pareto.h
//
// The best few of many points under several objectives, all to be minimised.
#ifndef FROSTLINE_SAMPLER_TPE_PARETO_H_
#define FROSTLINE_SAMPLER_TPE_PARETO_H_

#include <cstddef>
#include <vector>

namespace frostline {

using LossVectors = std::vector<std::vector<double>>;

// 0 for points nothing dominates, 1 for those only rank 0 dominates, and so on.
std::vector<int> NonDominationRanks(const LossVectors& losses);

// The volume that the points dominate, up to `reference`.
double Hypervolume(LossVectors points, const std::vector<double>& reference);

// Indices of the best `count` points: whole ranks while they fit, then of the
// next rank greedily the points that add most hypervolume (Ozaki et al., 2020;
// the greedy choice reaches 1 - 1/e of the best, Nemhauser et al.,
// 1978). REQUIRES: count <= losses.size().
std::vector<std::size_t> BestByHypervolume(const LossVectors& losses,
                                           std::size_t count);

}  // namespace frostline

#endif  // FROSTLINE_SAMPLER_TPE_PARETO_H_
