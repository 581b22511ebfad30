// SPDX-License-Identifier: Apache-2.0
//
// File: ped_anova.h
//
// PED-ANOVA (Watanabe, Bansal and Hutter, IJCAI 2023) says how much a parameter
// has to do with being among the best, as Pearson's divergence of the density p
// of its values in good trials from q in those of a region:
//
//   D = sum over places of q (p / q - 1)^2
//
// Of a parameter that some trials lack, condPED-ANOVA (KDD 2026) looks at those
// that have it, a share a of the good and b of the region, of which g are good:
//
//   importance = g^2 a^2 / b D        with a = b = 1 where no trial lacks it
//
//   half of the region has a rate, and all of the good: as important as one
//   that all have and whose D is twice as large
#ifndef FROSTLINE_IMPORTANCE_PED_PED_ANOVA_H_
#define FROSTLINE_IMPORTANCE_PED_PED_ANOVA_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "importance/measure/evaluate_options.h"
#include "importance/measure/selection.h"
#include "importance/report.h"
#include "study/space.h"

namespace frostline::importance {

// Kernel densities of counted values have a kernel for every
// place seen, weighted by count, and one for all else.

// Applies Scott's rule on a grid of step 1, with the smaller of deviation and
// quartile range. REQUIRES: a count is above 0.
double ScottWidth(const std::vector<double>& counts);

// Adds truncated normals; they sum to one. REQUIRES: a count is above 0.
std::vector<double> DensityOnGrid(const std::vector<double>& counts);

std::vector<double> DensityOfChoices(const std::vector<double>& counts);

// REQUIRES: both have the same places; `whole` is nowhere zero.
double PearsonDivergence(const std::vector<double>& part,
                         const std::vector<double>& whole);

// A parameter's values, sorted onto a grid.
class PedGrid {
 public:
  // `compares_places` compares as Optuna 4 does, not divides; they differ in
  // the last bit of a middle.
  PedGrid(const Domain& domain, bool compares_places);

  std::size_t size() const { return size_; }
  // Returns true for numbers, not of choices and levels.
  bool has_neighbours() const { return has_neighbours_; }
  // Gives a middle to the lower place. It knows neither absent nor frozen.
  std::uint16_t PlaceOf(double value) const;

 private:
  std::size_t size_ = 1;
  bool has_neighbours_ = false;
  bool log_ = false;
  bool compares_places_ = false;
  double low_ = 0.0;
  double half_step_ = 1.0;
  std::vector<double> places_;
};

// The trials on an axis, each with how often it counts, never zero times.
using CountedTrials = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

// A parameter of the trials: the place of each trial's value on a grid, and how
// important the parameter is in a region. It does not change once it is made.
class PedAxis {
 public:
  // Choices and levels are unordered; numbers lie on at most 50 places, in the
  // logarithm where the domain is; frozen is beside the grid.
  PedAxis(const Domain& domain, const std::vector<double>& values,
          const PedAnovaOptions& options);

  // Says whether some trial lacks the parameter.
  bool is_partial() const { return is_partial_; }

  // They vary at different places, or where one lacks it.
  bool Varies(const CountedTrials& trials) const;

  // Returns importances by set of good trials, not normalised. REQUIRES: no
  // trial counts more often than in `region`.
  std::vector<double> Importances(const CountedTrials& region,
                                  const std::vector<CountedTrials>& good) const;

  // Says by place how much more often good trials are there than the region's.
  // It is empty for choices, for one place, and where either has no trial at a
  // place.
  std::vector<double> Preference(const CountedTrials& region,
                                 const CountedTrials& good) const;

 private:
  struct Counts {
    std::vector<double> places;
    double live = 0.0;  // at some place
    double frozen = 0.0;
    double all = 0.0;  // with those that lack it

    double having() const { return live + frozen; }
  };

  Counts Count(const CountedTrials& trials) const;
  std::vector<double> DensityOf(const Counts& counts) const;
  bool IsMute(const Counts& region) const;
  double Divergence(const Counts& region, const std::vector<double>& whole,
                    const Counts& good) const;

  PedAnovaOptions options_;
  std::size_t places_ = 1;
  bool has_neighbours_ = false;
  bool is_ordered_ = false;  // for a person: also levels
  bool is_partial_ = false;
  bool has_frozen_ = false;
  std::vector<std::uint16_t> place_of_trial_;
};

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

// Returns importances by parameter, not normalised; 0 for fixed ones, and where
// the region is one point.
std::vector<double> PedImportances(const std::vector<PedAxis>& axes,
                                   const CountedTrials& region,
                                   const CountedTrials& good);

// Takes all trials: options.top_quantile is the region, and
// options.ped_anova.target_quantile of all are good. Answers TRIALS_TOO_FEW
// below kMinTrials in the region, TARGET_CONSTANT when all are good,
// REQUEST_INVALID for what is no quantile, or a region that is not the larger.
absl::StatusOr<Report> EvaluatePedAnova(const Space& space,
                                        const Selection& selection,
                                        const EvaluateOptions& options);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PED_PED_ANOVA_H_
