// SPDX-License-Identifier: Apache-2.0
//
// File: rank_agreement.h
//
// How far two rankings agree: Kendall's tau, and whether a difference matters.
//
//   KendallTau({3, 2, 1}, {30, 20, 10});   // 1: the same order
//   KendallTau({3, 2, 1}, {10, 20, 30});   // -1: turned round
#ifndef FROSTLINE_IMPORTANCE_RANKING_RANK_AGREEMENT_H_
#define FROSTLINE_IMPORTANCE_RANKING_RANK_AGREEMENT_H_

#include <vector>

namespace frostline::importance {

// Kendall's tau-b (Kendall, "A new measure of rank correlation", 1938; with
// ties, "The treatment of ties in ranking problems", 1945): -1 … 1. Where one
// side has nothing but ties it is 0; where both have, they agree and it is 1.
double KendallTau(const std::vector<double>& a, const std::vector<double>& b);

// Whether `other` turns round what `values` ranks: one that has less in
// `values` has clearly more in `other`. By less than kAlikeRatio of the
// larger share, or less than kAlikeShare, two are alike in either order: a
// zone of indifference (Bechhofer, 1954), so that equals are no riddle.
bool IsOrderChanged(const std::vector<double>& values,
                    const std::vector<double>& other);

inline constexpr double kAlikeRatio = 0.2;
inline constexpr double kAlikeShare = 0.01;

// Share of the draws in which it is, when each is `narrower` times as far from
// `values` as it was; 0 without draws.
double ChanceOfChange(const std::vector<double>& values,
                      const std::vector<std::vector<double>>& draws,
                      double narrower);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_RANKING_RANK_AGREEMENT_H_
