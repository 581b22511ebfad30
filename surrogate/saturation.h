// SPDX-License-Identifier: Apache-2.0
//
// File: saturation.h
//
// Surfaces of fine-tuning saturate: each group of layers alone takes off most
// of what all take together, so nearly everything interacts. Near the best end,
// effects multiply what is left:
//
//   value = end + exp(sum of effects)
//
// Here few interactions remain, and a history of good trials still says what a
// bad corner costs. `end` lies below every value, by what their density makes
// likely (warped processes; Snelson, Rasmussen and Ghahramani, 2004, eq. 5).
// From far away the logarithm is straight.
//
//   const Saturation saturation = FindSaturation(rows);
//   saturation.Back(saturation.Forward(0.07));    // 0.07
#ifndef FROSTLINE_SURROGATE_SATURATION_H_
#define FROSTLINE_SURROGATE_SATURATION_H_

#include <limits>
#include <vector>

#include "surrogate/rows.h"

namespace frostline::surrogate {

class Saturation {
 public:
  // Of values above 0.
  Saturation() = default;
  explicit Saturation(double end) : end_(end) {}

  double end() const { return end_; }

  // REQUIRES: value > end.
  double Forward(double value) const;
  double Back(double number) const;
  // The mean of values whose numbers have this distribution.
  double MeanBack(double mean, double variance) const;
  // ln of Forward's slope.
  double LogSlope(double value) const;
  // Back's slope squared, on average.
  double SquareSlope(const std::vector<double>& values) const;

 private:
  double end_ = 0.0;
};

struct SaturationOptions {
  // No value is lower; values at the bound stay finite.
  double bound = -std::numeric_limits<double>::infinity();
  // How near to the best value the end may lie, in deviations of the values:
  // near it points look far apart.
  double nearest = 0.3;
};

// Lower values are better. REQUIRES: a row.
Saturation FindSaturation(const Rows& rows,
                          const SaturationOptions& options = {});

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_SATURATION_H_
