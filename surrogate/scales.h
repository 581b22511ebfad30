// SPDX-License-Identifier: Apache-2.0
//
// File: scales.h
//
// Variances of a kernel's terms are logarithms, with what is usual of them
// before any trial (for values of mean 0 and variance 1).
//
//   kernel = Σ_a main_a K_a + e2(joint_a K_a) + triples · e3(joint_a K_a)
//
// e2 and e3 sum products over all pairs and triples of axes (Duvenaud, Nickisch
// and Rasmussen, 2011, eq. 10). Interactions have their own scales, to be large
// where main effects are small; pairs of which rows tell most have a factor
// each.
#ifndef FROSTLINE_SURROGATE_SCALES_H_
#define FROSTLINE_SURROGATE_SCALES_H_

#include <Eigen/Core>
#include <cstddef>

#include "surrogate/usual.h"

namespace frostline::surrogate {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

using AxisPair = std::pair<std::size_t, std::size_t>;  // rising

// Then come main scales, joint ones, and factors of pairs.
enum SharedScale : Index { kNoise, kLength, kGap, kTriples, kSharedScales };

inline Index MainScale(std::size_t axis) {
  return kSharedScales + static_cast<Index>(axis);
}
inline Index JointScale(std::size_t axis, std::size_t axes) {
  return kSharedScales + static_cast<Index>(axes + axis);
}
inline Index PairScale(std::size_t pair, std::size_t axes) {
  return kSharedScales + static_cast<Index>(2 * axes + pair);
}
inline Index ScaleCount(std::size_t axes, std::size_t pairs) {
  return PairScale(pairs, axes);
}

struct ScalePrior {
  VectorXd mean;
  VectorXd deviation;
};

ScalePrior UsualScales(std::size_t axes, std::size_t pairs,
                       const Usual& usual = {});

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_SCALES_H_
