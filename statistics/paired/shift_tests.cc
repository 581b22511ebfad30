// SPDX-License-Identifier: Apache-2.0
#include "statistics/paired/shift_tests.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "base/plain/statistics.h"
#include "statistics/law/distributions.h"

namespace frostline::statistics {
namespace {

// Of so many draws, and the one that was seen.
double ShareOf(std::ptrdiff_t beyond, std::size_t draws) {
  return (static_cast<double>(beyond) + 1.0) /
         (static_cast<double>(draws) + 1.0);
}

}  // namespace

ShiftTests OfProportions(const PairedCounts& counts) {
  const auto score = [counts](double d) {
    if (d <= -1.0) return HUGE_VAL;
    return d >= 1.0 ? -HUGE_VAL : TangoScore(counts, d);
  };
  return {[score](double d) { return NormalBelow(-score(d)); },
          [score](double d) { return NormalBelow(score(d)); },
          [counts](double level) {
            return TangoInterval(counts, NormalQuantile(0.5 + level / 2.0));
          }};
}

ShiftTests OfStudent(double difference, double deviation, double freedom) {
  const auto far = [=](double d) {
    return difference == d ? 0.0 : (difference - d) / deviation;
  };
  return {[=](double d) { return StudentBelow(-far(d), freedom); },
          [=](double d) { return StudentBelow(far(d), freedom); },
          [=](double level) {
            const double reach =
                StudentQuantile(0.5 + level / 2.0, freedom) * deviation;
            return Range{difference - reach, difference + reach};
          }};
}

ShiftTests OfDraws(std::vector<double> differences) {
  std::sort(differences.begin(), differences.end());
  const auto draws =
      std::make_shared<const std::vector<double>>(std::move(differences));
  return {[draws](double d) {
            const auto end = std::upper_bound(draws->begin(), draws->end(), d);
            return ShareOf(end - draws->begin(), draws->size());
          },
          [draws](double d) {
            const auto end = std::lower_bound(draws->begin(), draws->end(), d);
            return ShareOf(draws->end() - end, draws->size());
          },
          [draws](double level) {
            return Range{QuantileOfSorted(*draws, 0.5 - level / 2.0),
                         QuantileOfSorted(*draws, 0.5 + level / 2.0)};
          }};
}

}  // namespace frostline::statistics
