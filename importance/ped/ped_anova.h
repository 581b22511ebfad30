// SPDX-License-Identifier: Apache-2.0
//
// File: ped_anova.h
//
// PED-ANOVA (Watanabe, Bansal and Hutter, "PED-ANOVA", IJCAI 2023): how much a
// parameter has to do with being among the best trials. It is Pearson's
// divergence between the density p of a parameter's values in good trials and
// their density q in all trials of a region,
//
//   D = sum over places of q (p / q - 1)^2
//
// One pass over the trials for each parameter; no interactions.
#ifndef FROSTLINE_IMPORTANCE_PED_PED_ANOVA_H_
#define FROSTLINE_IMPORTANCE_PED_PED_ANOVA_H_

#include <vector>

#include "importance/ped/ped_axis.h"
#include "study/point.h"
#include "study/space.h"

namespace frostline::importance {

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

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PED_PED_ANOVA_H_
