// SPDX-License-Identifier: Apache-2.0
//
// File: unit_value.h
//
// From [0, 1) to a domain, so that even numbers become evenly spread values:
// levels, choices and steps are cells of equal width in their order,
// logarithmic domains are even in the logarithm, and a rate that can be frozen
// is so in the first `frozen_share` of the way.
#ifndef FROSTLINE_SAMPLER_DRAW_UNIT_VALUE_H_
#define FROSTLINE_SAMPLER_DRAW_UNIT_VALUE_H_

#include "study/domain.h"

namespace frostline {

// In the domain. REQUIRES: 0 <= u < 1.
double ValueAt(const Domain& domain, double frozen_share, double u);

}  // namespace frostline

#endif  // FROSTLINE_SAMPLER_DRAW_UNIT_VALUE_H_
