// SPDX-License-Identifier: Apache-2.0
//
// File: surrogate_parts.h
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

// Holds under one draw of scales, in standard values.
struct JointBelief {
  VectorXd mean;
  MatrixXd covariance;
};
JointBelief BelieveAt(const Evidence& evidence, const StandardRows& rows,
                      const std::vector<Cells>& points);

// Shares `count` by set of scales, by systematic sampling (Kitagawa, 1996).
std::vector<int> Share(const std::vector<ScaleDraw>& draws, int count);

std::vector<std::size_t> LikeliestFirst(const std::vector<ScaleDraw>& draws,
                                        std::size_t count);

PointKernel PointKernelOf(const Evidence& evidence, const Terms& terms);

// R Rᵀ is the covariance, which may be singular.
MatrixXd RootOf(MatrixXd covariance);

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_SURROGATE_PARTS_H_
