// SPDX-License-Identifier: Apache-2.0
//
// File: ped_anova.h
//
// PED-ANOVA: how much a parameter has to do with being among the best trials
// (Watanabe, Bansal and Hutter, IJCAI 2023): Pearson's divergence between the
// values that good trials have and those that all trials of a region have.
// One pass over the trials for each parameter; no interactions.
#ifndef FROSTLINE_IMPORTANCE_PED_ANOVA_H_
#define FROSTLINE_IMPORTANCE_PED_ANOVA_H_

#include <cstdint>
#include <vector>

#include "study/point.h"
#include "study/space.h"

namespace frostline {

struct PedAnovaOptions {
  // The best so much of all trials are good.
  double target_quantile = 0.1;
  // A parameter that some trials lack is judged among those that have it,
  // as Optuna 5 does. Otherwise it is left out, and at least two trials are
  // good, as in Optuna 4.
  bool conditional = true;
  // Against the trials of the region; otherwise against the whole space.
  bool local = true;
};

// How often each trial counts.
using TrialCounts = std::vector<std::uint32_t>;

// Marks the trials whose loss is at most that of the ceil(quantile * n)-th
// best of n, ties included. With `weights` a trial counts so often.
// REQUIRES: losses are finite, 0 < quantile <= 1, some weight is above 0.
TrialCounts BestTrials(const std::vector<double>& losses, double quantile,
                       const PedAnovaOptions& options,
                       const TrialCounts& weights);

// The trials' values, sorted into a grid for each parameter: once for any
// number of regions.
class PedAnova {
 public:
  // Points are in the space. Choices and levels are unordered, numbers lie on
  // at most 50 places, in the logarithm where the parameter does. Of a rate
  // that may be frozen, frozen is a value beside the grid.
  PedAnova(const Space& space, const std::vector<const Point*>& points,
           const PedAnovaOptions& options);

  // By parameter, not normalised: 0 for fixed ones, and for all where no trial
  // is good. `good` counts no trial more often than `region`.
  std::vector<double> Importances(const TrialCounts& region,
                                  const TrialCounts& good) const;

  // For each place of an ordered grid how much more often good trials are
  // there than others; empty for parameters without order, or that no trial of
  // either has.
  std::vector<double> Preference(std::size_t parameter,
                                 const TrialCounts& region,
                                 const TrialCounts& good) const;

  // Parameters that some trial lacks.
  std::vector<int> Partial() const;

 private:
  struct Axis {
    std::size_t places = 1;
    bool has_grid = false;    // neighbours are near each other
    bool is_ordered = false;  // as a person reads it: also levels
    bool is_partial = false;
    bool has_frozen = false;
    std::vector<std::uint16_t> place_of_trial;
  };
  struct Counts {
    std::vector<double> places;
    double live = 0.0;  // at some place
    double frozen = 0.0;
    double all = 0.0;  // with those that lack the parameter
  };

  Counts Count(const Axis& axis, const TrialCounts& weights) const;
  std::vector<double> DensityOf(const Axis& axis, const Counts& counts) const;
  double ImportanceOf(const Axis& axis, const Counts& region,
                      const Counts& good) const;

  PedAnovaOptions options_;
  std::vector<Axis> axes_;
};

}  // namespace frostline

#endif  // FROSTLINE_IMPORTANCE_PED_ANOVA_H_
