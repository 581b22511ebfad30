// SPDX-License-Identifier: Apache-2.0
//
// File: covariance.h
//
// How the function's values at points vary together, as far as the trials leave
// them open: for questions that many points may answer.
#ifndef FROSTLINE_SURROGATE_COVARIANCE_H_
#define FROSTLINE_SURROGATE_COVARIANCE_H_

#include <cstddef>
#include <vector>

#include "surrogate/surrogate.h"

namespace frostline::surrogate {

// Points x points, row after row, in squares of the values' unit: the mean over
// the `draws` likeliest sets of scales.
std::vector<double> CovarianceAt(const Surrogate& surrogate,
                                 const std::vector<Cells>& points,
                                 std::size_t draws);

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_COVARIANCE_H_
