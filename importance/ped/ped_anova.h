// SPDX-License-Identifier: Apache-2.0
//
// File: ped_anova.h
//
// PED-ANOVA: how much a parameter has to do with being among the best trials
// (Watanabe, Bansal and Hutter, IJCAI 2023): Pearson's divergence between the
// values that good trials have and those that all trials of a region have.
// One pass over the trials for each parameter; no interactions.
#ifndef FROSTLINE_IMPORTANCE_PED_PED_ANOVA_H_
#define FROSTLINE_IMPORTANCE_PED_PED_ANOVA_H_

#include <vector>

#include "importance/ped/ped_axis.h"
#include "study/point.h"
#include "study/space.h"

namespace frostline {

// Of these trials those whose loss is at most that of the
// ceil(quantile * n)-th best, ties included.
// REQUIRES: losses are finite, 0 < quantile <= 1, there is a trial.
CountedTrials BestTrials(const std::vector<double>& losses, double quantile,
                         const PedAnovaOptions& options,
                         const CountedTrials& among);

// One axis for each parameter: made once for any number of regions, and the
// same for any number of threads. The points are in the space.
std::vector<PedAxis> MakePedAxes(const Space& space,
                                 const std::vector<const Point*>& points,
                                 const PedAnovaOptions& options,
                                 int threads = 1);

// By parameter, not normalised: 0 for fixed ones, and for all where the trials
// of the region are at one point.
std::vector<double> PedImportances(const std::vector<PedAxis>& axes,
                                   const CountedTrials& region,
                                   const CountedTrials& good);

}  // namespace frostline

#endif  // FROSTLINE_IMPORTANCE_PED_PED_ANOVA_H_
