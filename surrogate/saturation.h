// SPDX-License-Identifier: Apache-2.0
//
// File: saturation.h
//
// A scale of values on which effects add up. Surfaces of fine-tuning saturate:
// each group of layers alone takes off most of what all take together, so
// nearly everything interacts. Near the best end, effects multiply what is
// left:
//
//   value = end + exp(sum of effects)
//
// Here few interactions remain, and good trials still say what a bad corner
// costs. `end` lies below every value, by what their density makes likely
// (warped processes; Snelson, Rasmussen and Ghahramani, 2004, eq. 5). From far
// away the logarithm is straight.
//
//   const Saturation saturation = FindSaturation(rows);
//   saturation.Back(saturation.Forward(0.07));    // 0.07
#ifndef FROSTLINE_SURROGATE_SATURATION_H_
#define FROSTLINE_SURROGATE_SATURATION_H_

#include <limits>
#include <stop_token>
#include <vector>

#include "surrogate/rows.h"

namespace frostline::surrogate {

// The scale: to it and back.
class Saturation {
 public:
  // Makes one for values above 0, with the end at 0.
  Saturation() = default;
  explicit Saturation(double end) : end_(end) {}

  double end() const { return end_; }

  double Forward(double value) const;  // REQUIRES: value > end
  double Back(double number) const;
  // Returns the mean of values whose numbers have this distribution.
  double MeanBack(double mean, double variance) const;
  double LogSlope(double value) const;  // ln of Forward's slope
  // Returns the mean of the squared slope of Back.
  double SquareSlope(const std::vector<double>& values) const;

 private:
  double end_ = 0.0;
};

struct SaturationOptions {
  // No value is lower; values at the bound stay finite.
  double bound = -std::numeric_limits<double>::infinity();
  // The end may lie so near to the best value, in deviations of the values:
  // near it points look far apart.
  double nearest = 0.3;
  // Once a stop is requested it is any end below the best value.
  std::stop_token stop = {};
};

// Finds the end. Lower values are better. REQUIRES: there is a row.
Saturation FindSaturation(const Rows& rows,
                          const SaturationOptions& options = {});

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_SATURATION_H_
