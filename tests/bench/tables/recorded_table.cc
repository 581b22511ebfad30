// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/tables/recorded_table.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "study/space.h"

namespace frostline::bench {

int RecordedCell::Succeeded() const {
  return static_cast<int>(std::ranges::count_if(runs, &RecordedRun::succeeded));
}

double RecordedCell::Mean() const {
  double sum = 0.0;
  for (const RecordedRun& run : runs) sum += run.succeeded ? run.value : 0.0;
  const int count = Succeeded();
  return count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
}

const RecordedCell* RecordedTable::Find(const Point& point) const {
  const auto [first, last] = places.equal_range(HashPoint(point));
  for (auto at = first; at != last; ++at) {
    if (SamePoint(cells[at->second].point, point)) return &cells[at->second];
  }
  return nullptr;
}

bool RecordedTable::IsComplete() const {
  const auto known = std::ranges::count_if(
      cells, [](const RecordedCell& cell) { return cell.Succeeded() > 0; });
  return static_cast<double>(known) == space.CountPoints();
}

double RecordedTable::Score(double value) const {
  return -AsLoss(objective, value);
}

}  // namespace frostline::bench
