// SPDX-License-Identifier: Apache-2.0
//
// File: saturated_effects.h
//
// Brings effects drawn on the scale of a saturation (saturation.h) back to the
// values' own scale. The function is end + exp(m + Σ g_a + Σ g_ab) = end + P Π
// u_a Π (1 + e_ab), u_a = exp(g_a) / E exp(g_a), e_ab = exp(g_ab) - 1. To first
// order in e its ANOVA is closed: with t_ab = u_a u_b e_ab, T_ab its mean, T
// the sum of all T_ab and T_a of those with a,
//
//   E[f | x_a] / P       = u_a (1 + T - T_a) + Σ_b E_b t_ab
//   E[f | x_a, x_b] / P  = u_a u_b (1 + T - T_a - T_b + T_ab) + t_ab
//                          + u_b Σ_c≠b E_c t_ac + u_a Σ_c≠a E_c t_bc
//
// and the rest at single points belongs to triples and more.
//
// Sources of this room alone include it: it stands on Eigen.
#ifndef FROSTLINE_SURROGATE_SATURATED_EFFECTS_H_
#define FROSTLINE_SURROGATE_SATURATED_EFFECTS_H_

#include <vector>

#include "surrogate/rows.h"
#include "surrogate/scales.h"

namespace frostline::surrogate {

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

#endif  // FROSTLINE_SURROGATE_SATURATED_EFFECTS_H_
