// SPDX-License-Identifier: Apache-2.0
//
// File: numeric_range.h
//
// A NumericRange is the line on which an ordered domain is drawn uniformly.
// Levels lie on it by their index, logarithmic domains by their logarithm;
// stepped values are cells one step wide, so that each has its share.
#ifndef FROSTLINE_SAMPLER_DRAW_NUMERIC_RANGE_H_
#define FROSTLINE_SAMPLER_DRAW_NUMERIC_RANGE_H_

#include <optional>

#include "study/space.h"

namespace frostline::sampler {

struct NumericRange {
  double lo = 0.0;
  double hi = 0.0;    // the highest on the step grid
  double step = 0.0;  // 0: continuous
  bool log = false;
  // The line ends half a step beyond the values.
  double box_lo = 0.0;
  double box_hi = 0.0;

  double ToBox(double value) const;
  // Returns the nearest value in the domain.
  double FromBox(double place) const;
};

// Answers nothing for categorical domains; of a log-uniform one it takes the
// part that is not frozen.
std::optional<NumericRange> NumericRangeOf(const Domain& domain);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_DRAW_NUMERIC_RANGE_H_
