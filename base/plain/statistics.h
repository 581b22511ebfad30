// SPDX-License-Identifier: Apache-2.0
//
// File: statistics.h
//
// Quantiles, ranks and the correlation of ranks.
#ifndef FROSTLINE_BASE_PLAIN_STATISTICS_H_
#define FROSTLINE_BASE_PLAIN_STATISTICS_H_

#include <vector>

namespace frostline {

// Returns the q-quantile, linear between order statistics (Hyndman and Fan,
// 1996, type 7). REQUIRES: there are values.
double Quantile(std::vector<double> values, double q);
// REQUIRES: there are values, in rising order.
double QuantileOfSorted(const std::vector<double>& values, double q);

// Returns the ranks from 0 by rising value. Equal values share their mean rank;
// NaN comes last.
std::vector<double> MeanRanks(const std::vector<double>& values);

// Returns Spearman's rank correlation; 0 when one side is constant.
double RankCorrelation(const std::vector<double>& a,
                       const std::vector<double>& b);

}  // namespace frostline

#endif  // FROSTLINE_BASE_PLAIN_STATISTICS_H_
