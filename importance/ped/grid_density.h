// SPDX-License-Identifier: Apache-2.0
//
// File: grid_density.h
//
// Kernel densities of counted values (Watanabe, Bansal and Hutter,
// "PED-ANOVA", IJCAI 2023): of a parameter's values on a grid, and of choices.
// One kernel for every place that was seen, weighted by how often, and one for
// everything that has not been.
#ifndef FROSTLINE_IMPORTANCE_PED_GRID_DENSITY_H_
#define FROSTLINE_IMPORTANCE_PED_GRID_DENSITY_H_

#include <vector>

namespace frostline::importance {

// The width of every kernel on a grid of step 1, by Scott's rule with the
// smaller of deviation and quartile range. REQUIRES: a count is above 0.
double ScottWidth(const std::vector<double>& counts);

// The share of each place; they sum to one. Of a grid: truncated normals.
// REQUIRES: a count is above 0.
std::vector<double> DensityOnGrid(const std::vector<double>& counts);

// The same of choices, which have no neighbours.
std::vector<double> DensityOfChoices(const std::vector<double>& counts);

// Pearson's divergence of two densities over the same places, of which `whole`
// is nowhere zero.
double PearsonDivergence(const std::vector<double>& part,
                         const std::vector<double>& whole);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PED_GRID_DENSITY_H_
