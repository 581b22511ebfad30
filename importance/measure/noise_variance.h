// SPDX-License-Identifier: Apache-2.0
//
// File: noise_variance.h
//
// What repeated trials tell of the noise, whatever the model: how far results
// of one point differ by the seeds they were trained with. Pooled over points
// p,
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
  double variance;  // of one trial, pooled over points; NaN: none was repeated
  double freedom;   // runs beyond the first of each point: how sure it is
};

// Runs of one point that share a seed and a loss are one run: a program that
// repeats itself tells nothing of the noise. A seed of 0 is not known, and
// equal to none.
// REQUIRES: as many losses as points, and as many seeds, or none at all.
RepeatNoise NoiseAtEqualPoints(const std::vector<const Point*>& points,
                               const std::vector<double>& losses,
                               const std::vector<std::uint64_t>& seeds = {});

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_NOISE_VARIANCE_H_
