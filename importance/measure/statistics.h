// SPDX-License-Identifier: Apache-2.0
//
// File: statistics.h
//
// Small statistics that a report needs.
#ifndef FROSTLINE_IMPORTANCE_MEASURE_STATISTICS_H_
#define FROSTLINE_IMPORTANCE_MEASURE_STATISTICS_H_

#include <utility>
#include <vector>

#include "base/rng.h"
#include "importance/measure/interval.h"

namespace frostline::importance {

// Intervals of a share from bootstrap replicates, moved so that they are
// around `value`: a replicate sees fewer distinct trials than the estimate did
// and is biased for it, but spreads as it does. Without replicates no wider
// than the value.
Interval ShareInterval(double value, const std::vector<double>& replicates);

// Intervals as the draws have them, interpolated between two of them, but
// never short of `value`. Without draws no wider than the value.
Interval IntervalOfDraws(double value, std::vector<double> draws);

// 1-based ranks by falling value; of equals the first one ranks higher.
std::vector<int> RankByFalling(const std::vector<double>& values);

// For each value how often it is among the three largest of a draw; without
// draws 1 or 0, as it is among `values`.
std::vector<double> Top3Probabilities(
    const std::vector<double>& values,
    const std::vector<std::vector<double>>& draws);

// Rank correlation of the order of a curve's points with how good they are;
// `losses` are better where lower. NaN without points.
double DirectionOf(std::vector<double> losses);
// The same, values being equal that differ by less than a fiftieth of the
// curve's range.
double ClearDirectionOf(std::vector<double> losses);

template <typename T>
void Shuffle(std::vector<T>& values, Rng& rng) {
  for (std::size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1], values[static_cast<std::size_t>(rng.Below(i))]);
  }
}

// Student's quantile where the normal one is z (three terms of its expansion in
// 1 / freedom; Abramowitz and Stegun, 26.7.5): to a thousandth from 5 degrees
// of freedom on, at 95 %. REQUIRES: freedom > 0.
double StudentQuantile(double z, double freedom);

// ln P(X >= x) to a few per cent for a chi-squared X of k degrees of freedom,
// by the cube-root transformation (Wilson and Hilferty, 1931).
double LogChiSquaredTail(double x, double k);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_STATISTICS_H_
