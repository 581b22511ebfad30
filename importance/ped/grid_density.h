// SPDX-License-Identifier: Apache-2.0
//
// File: grid_density.h
//
// Kernel densities of counted values (Watanabe, Bansal and Hutter, "PED-ANOVA",
// IJCAI 2023): a kernel for every place seen, weighted by count, and one for
// all else.
#ifndef FROSTLINE_IMPORTANCE_PED_GRID_DENSITY_H_
#define FROSTLINE_IMPORTANCE_PED_GRID_DENSITY_H_

#include <vector>

namespace frostline::importance {

// On a grid of step 1: Scott's rule with the smaller of deviation and quartile
// range. REQUIRES: a count above 0.
double ScottWidth(const std::vector<double>& counts);

// Truncated normals; they sum to one. REQUIRES: a count above 0.
std::vector<double> DensityOnGrid(const std::vector<double>& counts);

std::vector<double> DensityOfChoices(const std::vector<double>& counts);

// REQUIRES: the same places; `whole` nowhere zero.
double PearsonDivergence(const std::vector<double>& part,
                         const std::vector<double>& whole);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PED_GRID_DENSITY_H_
