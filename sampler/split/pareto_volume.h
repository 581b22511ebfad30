// SPDX-License-Identifier: Apache-2.0
//
// File: pareto_volume.h
//
// The volume that points dominate up to a reference, all objectives to be
// minimised. Exact, by slices along the last objective: within a slice the
// volume is that of one objective fewer. For n points O(n log n) with two or
// three objectives, and a factor n more for each one beyond.
//
//   one point (1, 1), reference (2, 3): 1 x 2 = 2
#ifndef FROSTLINE_SAMPLER_SPLIT_PARETO_VOLUME_H_
#define FROSTLINE_SAMPLER_SPLIT_PARETO_VOLUME_H_

#include <vector>

namespace frostline::sampler {

using LossVectors = std::vector<std::vector<double>>;

// Up to `reference`; what lies beyond it adds nothing. Infinite when the
// reference or a point that counts is. REQUIRES: two objectives at least, no
// NaN.
double Hypervolume(LossVectors points, const std::vector<double>& reference);

// The volume of one point alone.
double BoxVolume(const std::vector<double>& point,
                 const std::vector<double>& reference);

// What `point` adds to the volume of `others`: its box less what the others,
// moved into that box, dominate (While et al., "A Fast Way of Calculating Exact
// Hypervolumes", 2012, eq. 6 and 7).
double AddedVolume(const std::vector<double>& point, LossVectors others,
                   const std::vector<double>& reference);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_SPLIT_PARETO_VOLUME_H_
