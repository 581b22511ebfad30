// SPDX-License-Identifier: Apache-2.0
//
// File: grid_density.h
//
// Kernel densities of counted values (ped_anova.h) have a kernel for every
// place seen, weighted by count, and one for all else.
#ifndef FROSTLINE_IMPORTANCE_PED_GRID_DENSITY_H_
#define FROSTLINE_IMPORTANCE_PED_GRID_DENSITY_H_

#include <vector>

namespace frostline::importance {

// Applies Scott's rule on a grid of step 1, with the smaller of deviation and
// quartile range. REQUIRES: a count is above 0.
double ScottWidth(const std::vector<double>& counts);

// Adds truncated normals; they sum to one. REQUIRES: a count is above 0.
std::vector<double> DensityOnGrid(const std::vector<double>& counts);

std::vector<double> DensityOfChoices(const std::vector<double>& counts);

// REQUIRES: both have the same places; `whole` is nowhere zero.
double PearsonDivergence(const std::vector<double>& part,
                         const std::vector<double>& whole);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PED_GRID_DENSITY_H_
