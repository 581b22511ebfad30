// SPDX-License-Identifier: Apache-2.0
//
// File: statistics.h
//
// Small statistics that a report needs.
#ifndef FROSTLINE_IMPORTANCE_STATISTICS_H_
#define FROSTLINE_IMPORTANCE_STATISTICS_H_

#include <vector>

#include "importance/report.h"

namespace frostline {

// Intervals of a share from bootstrap replicates, moved so that they are
// around `value`: a replicate sees fewer distinct trials than the estimate did
// and is biased for it, but spreads as it does. Without replicates no wider
// than the value.
Interval ShareInterval(double value, const std::vector<double>& replicates);

// 1-based ranks by falling value; of equals the first one ranks higher.
std::vector<int> RankByFalling(const std::vector<double>& values);

// ln P(X >= x) to a few per cent for a chi-squared X of k degrees of freedom,
// by the cube-root transformation (Wilson and Hilferty, 1931).
double LogChiSquaredTail(double x, double k);

}  // namespace frostline

#endif  // FROSTLINE_IMPORTANCE_STATISTICS_H_
