// SPDX-License-Identifier: Apache-2.0
//
// File: pareto_volume.h
//
// The volume is exact, by slices along the last objective, each of one
// objective fewer; all are minimised. It takes O(n log n) with two or three
// objectives, a factor n more for each one beyond.
//
//   one point (1, 1), reference (2, 3): 1 x 2 = 2
#ifndef FROSTLINE_SAMPLER_SPLIT_PARETO_VOLUME_H_
#define FROSTLINE_SAMPLER_SPLIT_PARETO_VOLUME_H_

#include <vector>

namespace frostline::sampler {

using LossVectors = std::vector<std::vector<double>>;

// It is infinite when the reference or a point below it is. REQUIRES: there are
// two objectives at least, and no NaN.
double Hypervolume(LossVectors points, const std::vector<double>& reference);

double BoxVolume(const std::vector<double>& point,
                 const std::vector<double>& reference);

// Returns what `point` adds: its box less what `others`, moved into that box,
// dominate (While et al., 2012, eq. 6 and 7).
double AddedVolume(const std::vector<double>& point, LossVectors others,
                   const std::vector<double>& reference);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_SPLIT_PARETO_VOLUME_H_
