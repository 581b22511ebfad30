// SPDX-License-Identifier: Apache-2.0
//
// File: noise_variance.h
//
// What repeated trials tell of the noise, whatever the model.
#ifndef FROSTLINE_IMPORTANCE_NOISE_VARIANCE_H_
#define FROSTLINE_IMPORTANCE_NOISE_VARIANCE_H_

#include <vector>

#include "study/point.h"

namespace frostline {

// Pooled variance of the losses among equal points; NaN: none was repeated.
// REQUIRES: as many losses as points.
double VarianceAtEqualPoints(const std::vector<const Point*>& points,
                             const std::vector<double>& losses);

}  // namespace frostline

#endif  // FROSTLINE_IMPORTANCE_NOISE_VARIANCE_H_
