// SPDX-License-Identifier: Apache-2.0
//
// File: saturation.h
//
// Surfaces of fine-tuning saturate: each group of layers alone takes most of
// the loss that all together take, so that on the loss's own scale nearly
// everything interacts. Near the best end of the values, effects multiply
// what is left instead:
//
//   value = end + exp(sum of effects)
//
// On this scale few interactions are left, and a history that stayed among
// good trials still says what a bad corner costs. `end` lies below every value
// seen; how far is what the rows say themselves, by the density of their
// values (warped processes; Snelson, Rasmussen and Ghahramani, 2004, eq. 5).
// From far away the logarithm is a straight line, and nothing changes.
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
  // As made: of values above 0.
  Saturation() = default;
  explicit Saturation(double end) : end_(end) {}

  double end() const { return end_; }

  // REQUIRES: value > end.
  double Forward(double value) const;
  double Back(double number) const;
  // Of values whose numbers have this mean and variance: their mean.
  double MeanBack(double mean, double variance) const;
  // The logarithm of Forward's slope.
  double LogSlope(double value) const;
  // Of Back at these values: its slope squared, on average.
  double SquareSlope(const std::vector<double>& values) const;

 private:
  double end_ = 0.0;
};

struct SaturationOptions {
  // No value can be lower. Values at the bound stay finite.
  double bound = -std::numeric_limits<double>::infinity();
  // How near below the best value the end may lie, in deviations of the values:
  // near the end the scale is steep, and points there look far apart.
  double nearest = 0.3;
};

// Of rows whose values are better the lower they are. REQUIRES: a row.
Saturation FindSaturation(const Rows& rows,
                          const SaturationOptions& options = {});

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_SATURATION_H_
