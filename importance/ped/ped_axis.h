// SPDX-License-Identifier: Apache-2.0
//
// File: ped_axis.h
//
// One parameter's values in all trials, sorted onto a grid, and what PED-ANOVA
// makes of them.
#ifndef FROSTLINE_IMPORTANCE_PED_PED_AXIS_H_
#define FROSTLINE_IMPORTANCE_PED_PED_AXIS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "importance/measure/evaluate_options.h"
#include "study/domain.h"

namespace frostline::importance {

// Trials, and how often each counts; none counts zero times.
using CountedTrials = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

class PedAxis {
 public:
  // Choices and levels are unordered, numbers lie on at most 50 places, in
  // the logarithm where the parameter does. Of a rate that may be frozen,
  // frozen is a value beside the grid.
  PedAxis(const Domain& domain, const std::vector<double>& values,
          const PedAnovaOptions& options);

  // Whether some trial lacks the parameter.
  bool is_partial() const { return is_partial_; }

  // Whether two of these trials are at different places, or one lacks it.
  bool Varies(const CountedTrials& trials) const;

  // For each of several sets of good trials; not normalised. A set counts no
  // trial more often than `region` does.
  std::vector<double> Importances(const CountedTrials& region,
                                  const std::vector<CountedTrials>& good) const;

  // For each place how much more often good trials are there than those of the
  // region. Empty for choices, and where no trial of either has the parameter.
  std::vector<double> Preference(const CountedTrials& region,
                                 const CountedTrials& good) const;

 private:
  struct Counts {
    std::vector<double> places;
    double live = 0.0;  // at some place
    double frozen = 0.0;
    double all = 0.0;  // with those that lack the parameter

    double having() const { return live + frozen; }
  };

  Counts Count(const CountedTrials& trials) const;
  std::vector<double> DensityOf(const Counts& counts) const;
  // Whether there is anything to say, whatever trials are good.
  bool IsMute(const Counts& region) const;
  double Divergence(const Counts& region, const std::vector<double>& whole,
                    const Counts& good) const;

  PedAnovaOptions options_;
  std::size_t places_ = 1;
  bool has_neighbours_ = false;
  bool is_ordered_ = false;  // as a person reads it: also levels
  bool is_partial_ = false;
  bool has_frozen_ = false;
  std::vector<std::uint16_t> place_of_trial_;
};

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PED_PED_AXIS_H_
