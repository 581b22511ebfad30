// SPDX-License-Identifier: Apache-2.0
//
// File: noise_variance.h
//
// Repeated trials tell of the noise, whatever the model, pooled over points p:
//
//   variance = sum over p, i of (loss_pi - mean_p)^2 / sum over p of (n_p - 1)
//
//   two runs of one point at 0.80 and 0.82: variance 0.0002, freedom 1
#ifndef FROSTLINE_IMPORTANCE_MEASURE_NOISE_VARIANCE_H_
#define FROSTLINE_IMPORTANCE_MEASURE_NOISE_VARIANCE_H_

#include <cstdint>
#include <vector>

#include "study/point.h"

namespace frostline::importance {

struct RepeatNoise {
  double variance;  // of one trial; NaN: none was repeated
  double freedom;   // runs beyond the first of each point
};

// Counts runs of one point that share seed and loss once: a program that
// repeats itself tells nothing; a seed of 0 is unknown. REQUIRES: there are as
// many losses as points, and as many seeds, or none.
RepeatNoise NoiseAtEqualPoints(const std::vector<const Point*>& points,
                               const std::vector<double>& losses,
                               const std::vector<std::uint64_t>& seeds = {});

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_NOISE_VARIANCE_H_
