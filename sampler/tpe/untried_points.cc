// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/untried_points.h"

#include "sampler/draw/grid_points.h"
#include "sampler/draw/random.h"

namespace frostline::sampler {
namespace {

constexpr int kBlindDraws = 64;
// Spaces of more points are never nearly covered.
constexpr std::int64_t kSearchedPoints = 1'000'000;

}  // namespace

bool UntriedPoints::IsTried(const CellTable& table, const Point* own,
                            const Point& point) const {
  if (options_.tries == 0) return false;
  std::size_t times = table.TimesTried(point);
  if (times >= options_.tries && own != nullptr &&
      table.IsSamePoint(*own, point)) {
    --times;
  }
  return times >= options_.tries;
}

Point UntriedPoints::Draw(const CellTable& table, const Point* own,
                          Rng& rng) const {
  Point point = DrawPoint(space_, options_.frozen_share, rng);
  if (!IsTried(table, own, point)) return point;
  return Find(table, own, rng).value_or(point);
}

std::optional<Point> UntriedPoints::Find(const CellTable& table,
                                         const Point* own, Rng& rng) const {
  for (int i = 0; i < kBlindDraws; ++i) {
    Point point = DrawPoint(space_, options_.frozen_share, rng);
    if (!IsTried(table, own, point)) return point;
  }
  if (!(space_.CountPoints() <= 1e9)) return std::nullopt;
  const GridPoints points(space_);
  if (points.Count(kSearchedPoints) > kSearchedPoints) return std::nullopt;
  // One of them, each with the same chance.
  std::optional<Point> found;
  std::uint64_t untried = 0;
  Point point = points.First();
  do {
    if (!IsTried(table, own, point) && rng.Below(++untried) == 0) found = point;
  } while (points.Advance(point));
  return found;
}

}  // namespace frostline::sampler
