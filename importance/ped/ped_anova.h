// SPDX-License-Identifier: Apache-2.0
//
// File: ped_anova.h
//
// PED-ANOVA (Watanabe, Bansal and Hutter, IJCAI 2023) says how much a parameter
// has to do with being among the best, as Pearson's divergence of the density p
// of its values in good trials from q in those of a region:
//
//   D = sum over places of q (p / q - 1)^2
#ifndef FROSTLINE_IMPORTANCE_PED_PED_ANOVA_H_
#define FROSTLINE_IMPORTANCE_PED_PED_ANOVA_H_

#include <vector>

#include "importance/ped/ped_axis.h"
#include "study/point.h"
#include "study/space.h"

namespace frostline::importance {

// Goes up to the ceil(quantile * n)-th best, ties included. REQUIRES: there is
// a trial; losses are finite; 0 < quantile <= 1.
CountedTrials BestTrials(const std::vector<double>& losses, double quantile,
                         const PedAnovaOptions& options,
                         const CountedTrials& among);

// The axes serve any number of regions. REQUIRES: points are in the space.
std::vector<PedAxis> MakePedAxes(const Space& space,
                                 const std::vector<const Point*>& points,
                                 const PedAnovaOptions& options,
                                 int threads = 1);

// Answers by parameter, not normalised; 0 for fixed ones, and where the region
// is one point.
std::vector<double> PedImportances(const std::vector<PedAxis>& axes,
                                   const CountedTrials& region,
                                   const CountedTrials& good);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PED_PED_ANOVA_H_
