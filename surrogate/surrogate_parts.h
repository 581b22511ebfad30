// SPDX-License-Identifier: Apache-2.0
//
// File: surrogate_parts.h
//
// What a Surrogate is made of, for its own sources alone.
#ifndef FROSTLINE_SURROGATE_SURROGATE_PARTS_H_
#define FROSTLINE_SURROGATE_SURROGATE_PARTS_H_

#include <cstddef>
#include <vector>

#include "base/rng.h"
#include "surrogate/point_kernel.h"
#include "surrogate/scale_draws.h"
#include "surrogate/standard_rows.h"
#include "surrogate/surrogate.h"

namespace frostline::surrogate {

struct Surrogate::Parts {
  Rows rows;
  Standardised standard;  // the draws keep references to its rows
  std::vector<ScaleDraw> draws;
  std::vector<double> spread;  // by row
  double noise = 0.0;
};

// Mean and covariance of the function at points, under one draw of scales and
// in standard values.
struct JointBelief {
  VectorXd mean;
  MatrixXd covariance;
};
JointBelief BelieveAt(const Evidence& evidence, const StandardRows& rows,
                      const std::vector<Cells>& points);

// How many of `count` draws are each scale draw's, by systematic sampling of
// their weights (Kitagawa, 1996). They add up to `count`.
std::vector<int> Share(const std::vector<ScaleDraw>& draws, int count);

// Places of the `count` likeliest draws (axis_walk.cc).
std::vector<std::size_t> LikeliestFirst(const std::vector<ScaleDraw>& draws,
                                        std::size_t count);

// The kernel under the evidence's scales (point_kernel.cc).
PointKernel PointKernelOf(const Evidence& evidence, const Terms& terms);

// A root of a covariance that may be singular: R Rᵀ is it, rounding apart.
MatrixXd RootOf(MatrixXd covariance);

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_SURROGATE_PARTS_H_
