// SPDX-License-Identifier: Apache-2.0
#include "sampler/draw/unit_value.h"

#include <cmath>
#include <variant>

#include "sampler/draw/numeric_range.h"

namespace frostline {

double ValueAt(const Domain& domain, double frozen_share, double u) {
  const auto* const rate = std::get_if<LogUniform>(&domain);
  if (rate != nullptr && rate->freeze) {
    if (u < frozen_share) return 0.0;
    u = (u - frozen_share) / (1.0 - frozen_share);
  }
  if (const auto* d = std::get_if<Categorical>(&domain)) {
    return std::floor(u * static_cast<double>(d->choices.size()));
  }
  const NumericRange range = *NumericRangeOf(domain);
  return range.FromBox(std::lerp(range.box_lo, range.box_hi, u));
}

}  // namespace frostline
