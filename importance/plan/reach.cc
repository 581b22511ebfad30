// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/reach.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace frostline::importance {
namespace {

// Of histories of recorded tables (docs/measured/tables.md), where it was .3 to
// 1.0 of 36 to 200 trials.
constexpr double kUsualPart = 0.7;
constexpr double kUsualPartError = 0.3;

double ReachMeanOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(values.size());
}

}  // namespace

// Ridge regression towards the usual part: the posterior of a slope.
Reach FindReach(const std::vector<double>& predicted,
                const std::vector<double>& seen) {
  Reach reach;
  reach.usual = ReachMeanOf(predicted);
  reach.furthest = *std::max_element(predicted.begin(), predicted.end());
  const double middle = ReachMeanOf(seen);
  double across = 0.0;
  double both = 0.0;
  double up = 0.0;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    const double x = predicted[i] - reach.usual;
    const double y = seen[i] - middle;
    across += x * x;
    both += x * y;
    up += y * y;
  }
  const double prior = 1.0 / (kUsualPartError * kUsualPartError);
  double told = 0.0;  // how precisely the trials tell the slope
  if (across > 0.0 && predicted.size() > 2) {
    const double off = std::max(up - both * both / across, 0.0);
    const double freedom = static_cast<double>(predicted.size() - 2);
    told = across / std::max(off / freedom, 1e-12);
    reach.part = both / across;
  }
  reach.part = (told * reach.part + prior * kUsualPart) / (told + prior);
  reach.part_error = 1.0 / std::sqrt(told + prior);
  return reach;
}

double Reached(const Reach& reach, double predicted, double part) {
  if (predicted <= reach.usual) return predicted;
  const double seen = std::min(predicted, reach.furthest) - reach.usual;
  const double beyond = std::max(predicted - reach.furthest, 0.0);
  return reach.usual + part * seen + part * part * beyond;
}

}  // namespace frostline::importance
