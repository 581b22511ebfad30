// SPDX-License-Identifier: Apache-2.0
//
// File: statistics.h
//
// Figures of a sample.
#ifndef FROSTLINE_BASE_PLAIN_STATISTICS_H_
#define FROSTLINE_BASE_PLAIN_STATISTICS_H_

#include <vector>

namespace frostline {

// The q-quantile, linear between order statistics (Hyndman and Fan, 1996,
// type 7). REQUIRES: values is not empty.
double Quantile(std::vector<double> values, double q);
// The same of values that rise.
double QuantileOfSorted(const std::vector<double>& values, double q);

// 0-based ranks by rising value; equal values share their mean rank, NaN comes
// last.
std::vector<double> MeanRanks(const std::vector<double>& values);

// Spearman's rank correlation; 0 when one side is constant.
double RankCorrelation(const std::vector<double>& a,
                       const std::vector<double>& b);

}  // namespace frostline

#endif  // FROSTLINE_BASE_PLAIN_STATISTICS_H_
