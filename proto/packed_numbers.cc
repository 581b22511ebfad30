// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "proto/wire_values.h"

namespace frostline::proto {

float FromHalf(std::uint32_t bits) {
  const auto exponent = static_cast<int>(bits >> 10 & 31);
  const auto fraction = static_cast<float>(bits & 1023);
  const float sign = (bits & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  if (exponent < 31) {
    return sign * std::ldexp(1024.0F + fraction, exponent - 25);
  }
  return fraction == 0.0F ? sign * std::numeric_limits<float>::infinity()
                          : std::numeric_limits<float>::quiet_NaN();
}

}  // namespace frostline::proto
