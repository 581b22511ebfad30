// SPDX-License-Identifier: Apache-2.0
#include "importance/measure/shared_luck.h"

#include <cmath>
#include <cstddef>
#include <vector>

#include "study/point.h"

namespace frostline::importance {

statistics::SeedLuck FindSharedLuck(const Selection& selection) {
  PointPlaces places;
  std::vector<statistics::PointRun> runs;
  runs.reserve(selection.trials.size());
  for (std::size_t row = 0; row < selection.trials.size(); ++row) {
    runs.push_back({places.PlaceOf(*selection.points[row]),
                    selection.trials[row]->seed, selection.losses[row]});
  }
  return statistics::FindSeedLuck(places.size(), runs);
}

void TakeOff(const statistics::SeedLuck& luck, Selection& selection) {
  for (std::size_t row = 0; row < selection.losses.size(); ++row) {
    selection.losses[row] -= luck.of_run[row];
  }
}

double DrawLuck(const statistics::SeedLuck& luck, double runs, Rng& rng) {
  if (luck.variance == 0.0) return 0.0;
  const double freedom = static_cast<double>(luck.seeds);
  double squares = 0.0;
  for (std::size_t s = 0; s < luck.seeds; ++s) {
    const double z = rng.Normal();
    squares += z * z;
  }
  const double deviation =
      std::sqrt(luck.variance * (1.0 / runs + 1.0 / freedom));
  return deviation * rng.Normal() / std::sqrt(squares / freedom);
}

}  // namespace frostline::importance
