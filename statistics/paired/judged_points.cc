// SPDX-License-Identifier: Apache-2.0
#include "statistics/paired/judged_points.h"

#include <limits>

namespace frostline::statistics {

std::vector<double> JudgePoints(std::size_t points,
                                const std::vector<PointRun>& runs) {
  const SeedLuck luck = FindSeedLuck(points, runs);
  std::vector<double> sums(points), counts(points);
  for (std::size_t r = 0; r < runs.size(); ++r) {
    sums[runs[r].point] += runs[r].value - luck.of_run[r];
    counts[runs[r].point] += 1.0;
  }
  double usual = 0.0, ran = 0.0;
  for (std::size_t p = 0; p < points; ++p) {
    if (counts[p] == 0.0) continue;
    usual += sums[p] / counts[p];
    ran += 1.0;
  }
  std::vector<double> judged(points, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t p = 0; p < points; ++p) {
    if (counts[p] == 0.0) continue;
    judged[p] = (sums[p] + usual / ran) / (counts[p] + 1.0);
  }
  return judged;
}

}  // namespace frostline::statistics
