// SPDX-License-Identifier: Apache-2.0
//
// File: saturation.h
//
// Surfaces of fine-tuning saturate: each group of layers alone takes off most
// of what all take together, so nearly everything interacts. Near the best end,
// effects multiply what is left:
//
//   value = end + exp(sum of effects)
//
// Here few interactions remain, and good trials still say what a bad corner
// costs. `end` lies below every value, by what their density makes likely
// (warped processes; Snelson, Rasmussen and Ghahramani, 2004, eq. 5). From far
// away the logarithm is straight.
//
//   const Saturation saturation = FindSaturation(rows);
//   saturation.Back(saturation.Forward(0.07));    // 0.07
#ifndef FROSTLINE_SURROGATE_SATURATION_H_
#define FROSTLINE_SURROGATE_SATURATION_H_

#include <limits>
#include <stop_token>
#include <vector>

#include "surrogate/rows.h"
#include "surrogate/scales.h"

namespace frostline::surrogate {

class Saturation {
 public:
  // Makes one for values above 0, with the end at 0.
  Saturation() = default;
  explicit Saturation(double end) : end_(end) {}

  double end() const { return end_; }

  double Forward(double value) const;  // REQUIRES: value > end
  double Back(double number) const;
  // Returns the mean of values whose numbers have this distribution.
  double MeanBack(double mean, double variance) const;
  double LogSlope(double value) const;  // ln of Forward's slope
  // Returns the mean of the squared slope of Back.
  double SquareSlope(const std::vector<double>& values) const;

 private:
  double end_ = 0.0;
};

struct SaturationOptions {
  // No value is lower; values at the bound stay finite.
  double bound = -std::numeric_limits<double>::infinity();
  // The end may lie so near to the best value, in deviations of the values:
  // near it points look far apart.
  double nearest = 0.3;
  // Once a stop is requested it is any end below the best value.
  std::stop_token stop = {};
};

// Finds the end. Lower values are better. REQUIRES: there is a row.
Saturation FindSaturation(const Rows& rows,
                          const SaturationOptions& options = {});

// Effects drawn on the scale of a saturation go back to the
// values' own. The function is end + exp(m + Σ g_a + Σ g_ab) = end + P Π u_a Π
// (1 + e_ab), u_a = exp(g_a) / E exp(g_a), e_ab = exp(g_ab) - 1. To first order
// in e its ANOVA is closed: with t_ab = u_a u_b e_ab, T_ab its mean, T the sum
// of all T_ab and T_a of those with a,
//
//   E[f | x_a] / P       = u_a (1 + T - T_a) + Σ_b E_b t_ab
//   E[f | x_a, x_b] / P  = u_a u_b (1 + T - T_a - T_b + T_ab) + t_ab
//                          + u_b Σ_c≠b E_c t_ac + u_a Σ_c≠a E_c t_bc
//
// and the rest at single points belongs to triples and more.

struct DrawnTerms {
  double mean = 0.0;
  std::vector<VectorXd> main;   // curves, by axis
  std::vector<MatrixXd> joint;  // tables, by rising pair
  VectorXd higher;              // sums of higher terms, by point
};

// `masses` go by axis and cell, `points` are those of `higher`.
void ToOwnScale(const std::vector<VectorXd>& masses,
                const std::vector<Cells>& points, DrawnTerms& terms);

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_SATURATION_H_
