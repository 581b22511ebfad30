// SPDX-License-Identifier: Apache-2.0
#include "importance/measure/evenness.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "importance/measure/numbers.h"

namespace frostline::importance {
namespace {

struct Parts {
  std::vector<double> mass;
  std::vector<double> seen;
};

constexpr std::size_t kLiveParts = 8;

std::size_t PartOf(const MeasuredAxis& axis, double code) {
  if (!axis.is_ordered()) return static_cast<std::size_t>(code);
  if (code < 0.0) return code < -1.0 ? 0 : 1;
  const double fixed = axis.MassUpTo(-1.0);
  const double place = (axis.MassUpTo(code) - fixed) / (1.0 - fixed);
  // A value ends at its place: the end of a part still belongs to it.
  const double part = std::ceil(place * kLiveParts - 1e-9) - 1.0;
  return 2 + static_cast<std::size_t>(
                 std::clamp(part, 0.0, static_cast<double>(kLiveParts - 1)));
}

Parts CountParts(const MeasuredAxis& axis, const std::vector<double>& codes) {
  Parts parts;
  if (!axis.is_ordered()) {
    parts.mass = axis.choice_masses();
  } else {
    const double absent = axis.MassUpTo(-2.0);
    const double fixed = axis.MassUpTo(-1.0);
    parts.mass = {absent, fixed - absent};
    const double share = (1.0 - fixed) / static_cast<double>(kLiveParts);
    parts.mass.resize(2 + kLiveParts, axis.is_finite() ? 0.0 : share);
    for (const double code : axis.CountableCodes()) {
      if (code < 0.0 || !axis.is_finite()) continue;
      parts.mass[PartOf(axis, code)] +=
          axis.MassUpTo(code) - axis.MassUpTo(code - 0.5);
    }
  }
  parts.seen.resize(parts.mass.size(), 0.0);
  for (const double code : codes) parts.seen[PartOf(axis, code)] += 1.0;
  return parts;
}

}  // namespace

double LogChanceOfUneven(const MeasuredAxis& axis,
                         const std::vector<double>& codes) {
  const Parts parts = CountParts(axis, codes);
  const auto trials = static_cast<double>(codes.size());
  double statistic = 0.0, freedom = -1.0;
  for (std::size_t i = 0; i < parts.mass.size(); ++i) {
    if (parts.mass[i] < 1e-9) continue;
    const double expected = parts.mass[i] * trials;
    const double apart = parts.seen[i] - expected;
    statistic += apart * apart / expected;
    freedom += 1.0;
  }
  return freedom > 0.0 ? LogChiSquaredTail(statistic, freedom) : 0.0;
}

}  // namespace frostline::importance
