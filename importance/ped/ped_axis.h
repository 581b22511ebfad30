// SPDX-License-Identifier: Apache-2.0
//
// File: ped_axis.h
#ifndef FROSTLINE_IMPORTANCE_PED_PED_AXIS_H_
#define FROSTLINE_IMPORTANCE_PED_PED_AXIS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "importance/measure/evaluate_options.h"
#include "study/space.h"

namespace frostline::importance {

// Each trial comes with how often it counts, never zero times.
using CountedTrials = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

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

  // Answers by set of good trials, not normalised. REQUIRES: no trial counts
  // more often than in `region`.
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

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PED_PED_AXIS_H_
