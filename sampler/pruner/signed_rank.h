// SPDX-License-Identifier: Apache-2.0
//
// File: signed_rank.h
//
// The signed-rank test (Wilcoxon, 1945) ranks differences by size, and sums the
// ranks of those above 0. By chance, each choice of signs is equally likely.
//
//   differences 1, 2, 3: sum 6, which 1 of 8 choices reaches: 0.125
#ifndef FROSTLINE_SAMPLER_PRUNER_SIGNED_RANK_H_
#define FROSTLINE_SAMPLER_PRUNER_SIGNED_RANK_H_

#include <vector>

namespace frostline::sampler {

// Returns the probability of a sum as high or higher by chance. Zeros count
// half to each side. It is exact for up to 50 differences, or 13 with ties or
// zeros; else it is the normal approximation, corrected for ties. REQUIRES:
// there are numbers, all finite.
double SignedRankProbability(const std::vector<double>& differences);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PRUNER_SIGNED_RANK_H_
