// SPDX-License-Identifier: Apache-2.0
//
// File: scale_draws.h
//
// Draws sets of scales from their posterior. Fisher scoring finds its mode.
// Draws by the curvature there are weighted by likelihood (importance
// sampling), and the largest weights are cut (Ionides, 2008).
#ifndef FROSTLINE_SURROGATE_SCALE_DRAWS_H_
#define FROSTLINE_SURROGATE_SCALE_DRAWS_H_

#include <cstddef>
#include <memory>
#include <stop_token>
#include <vector>

#include "base/rng.h"
#include "surrogate/rows.h"
#include "surrogate/scales.h"
#include "surrogate/surrogate.h"

namespace frostline::surrogate {

struct Standardised {
  StandardRows rows;
  std::vector<std::size_t> used;  // rising places among the rows given
  double middle = 0.0;            // value = middle + scale * standard value
  double scale = 1.0;
};

// Returns rows in standard values. After a stop it takes the rows found by
// then, at least one.
Standardised Standardise(const Rows& rows, std::size_t most_rows,
                         const std::stop_token& stop = {});

// Returns the rows that tell most, rising: each next one is the row that the
// others know least about (pivoted Cholesky; Foster et al., 2009), under usual
// scales.
std::vector<std::size_t> SpreadRows(const Rows& rows, std::size_t count,
                                    const std::stop_token& stop = {});

// Finds how far off each row is, up to a bound: (nu + r² / noise) / (nu + 1),
// one over its weight under Student-t noise of nu degrees (Lange, Little and
// Taylor, 1989, §3), so that a diverged run is no evidence about its
// neighbours.
void SpreadByResiduals(const Evidence& evidence, StandardRows& rows);

// Returns expected squares of rows' distances to the function; their mean is
// the variance of noise, tails included.
VectorXd SquaresOff(const Evidence& evidence);

VectorXd NormalVector(Index size, Rng& rng);

struct ScaleDraw {
  std::unique_ptr<Evidence> evidence;
  double weight = 0.0;  // they add up to 1
};

// Returns the mode, never null: it ends where no step improves, or if stopped.
std::unique_ptr<Evidence> FindMode(const StandardRows& rows,
                                   const ScalePrior& prior,
                                   const VectorXd& start, int steps,
                                   const std::stop_token& stop = {});

// Returns at least one draw; `mode` is among them. A stop leaves the others
// out.
std::vector<ScaleDraw> DrawScales(const StandardRows& rows,
                                  const ScalePrior& prior,
                                  std::unique_ptr<Evidence> mode, int count,
                                  Rng& rng, const std::stop_token& stop = {});

struct Surrogate::Parts {
  Rows rows;
  Standardised standard;  // the draws keep references to its rows
  std::vector<ScaleDraw> draws;
  std::vector<double> spread;  // by row
  double noise = 0.0;
};

// The belief about some points under one draw of scales, in standard values.
struct JointBelief {
  VectorXd mean;
  MatrixXd covariance;
};
JointBelief BelieveAt(const Evidence& evidence, const StandardRows& rows,
                      const std::vector<Cells>& points);

// Divides `count` among the sets of scales, by systematic sampling (Kitagawa,
// 1996).
std::vector<int> Share(const std::vector<ScaleDraw>& draws, int count);

std::vector<std::size_t> LikeliestFirst(const std::vector<ScaleDraw>& draws,
                                        std::size_t count);

PointKernel PointKernelOf(const Evidence& evidence, const Terms& terms);

// Returns R with R Rᵀ the covariance, which may be singular.
MatrixXd RootOf(MatrixXd covariance);

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_SCALE_DRAWS_H_
