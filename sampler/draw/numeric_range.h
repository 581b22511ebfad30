// SPDX-License-Identifier: Apache-2.0
//
// File: numeric_range.h
//
// The line on which an ordered domain is drawn. Learning-rate levels lie on it
// by their index, log-uniform rates and other logarithmic domains by their
// logarithm, and values with a step are cells one step wide, so that a uniform
// draw from the box gives every one of them its share.
#ifndef FROSTLINE_SAMPLER_DRAW_NUMERIC_RANGE_H_
#define FROSTLINE_SAMPLER_DRAW_NUMERIC_RANGE_H_

#include <optional>

#include "study/domain.h"

namespace frostline::sampler {

struct NumericRange {
  double lo = 0.0;    // the lowest value
  double hi = 0.0;    // the highest value that is on the step grid
  double step = 0.0;  // 0: continuous
  bool log = false;
  // Where the line begins and ends, half a step beyond the values.
  double box_lo = 0.0;
  double box_hi = 0.0;

  // The place of a value on the line.
  double ToBox(double value) const;
  // The value nearest to a place; always in the domain.
  double FromBox(double place) const;
};

// Nothing for categorical domains. Of a log-uniform domain the part that is
// not frozen.
std::optional<NumericRange> NumericRangeOf(const Domain& domain);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_DRAW_NUMERIC_RANGE_H_
