// SPDX-License-Identifier: Apache-2.0
//
// File: covariance.h
#ifndef FROSTLINE_SURROGATE_COVARIANCE_H_
#define FROSTLINE_SURROGATE_COVARIANCE_H_

#include <cstddef>
#include <vector>

#include "surrogate/surrogate.h"

namespace frostline::surrogate {

// Returns covariances of the values at points, points x points, in squares of
// their unit: the mean over the `draws` likeliest sets of scales.
std::vector<double> CovarianceAt(const Surrogate& surrogate,
                                 const std::vector<Cells>& points,
                                 std::size_t draws);

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_COVARIANCE_H_
