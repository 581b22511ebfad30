// SPDX-License-Identifier: Apache-2.0
#include "sampler/gp/fresh_point.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sampler/draw/grid_points.h"
#include "sampler/draw/random.h"
#include "sampler/gp/study_axes.h"

namespace frostline::sampler {
namespace {

// Stretches of a long line that count as one.
constexpr int kStretches = 7;

// Where a draw may fall on an axis: each of its cells, or for a long line its
// stretches, and frozen.
struct Stretches {
  const LevelAxis& axis;

  int on_line() const { return axis.exact ? axis.line_cells : kStretches; }
  int count() const { return on_line() + (axis.frozen_value ? 1 : 0); }
  int StretchOf(int cell) const {
    if (cell >= axis.line_cells) return on_line();
    return axis.exact ? cell : cell * kStretches / kLineCells;
  }
  double Draw(int stretch, Rng& rng) const {
    if (stretch >= on_line()) return 0.0;
    if (axis.exact) return axis.ValueOf(stretch);
    const double share = (stretch + rng.Uniform()) / kStretches;
    return axis.DrawValueOf(
        std::min(kLineCells - 1, static_cast<int>(share * kLineCells)), rng);
  }
};

double DrawRare(const Stretches& stretches, std::size_t d,
                const std::vector<const LedgerTrial*>& trials, Rng& rng) {
  std::vector<int> uses(static_cast<std::size_t>(stretches.count()), 0);
  for (const LedgerTrial* trial : trials) {
    if (IsAbsent(trial->point[d])) continue;
    ++uses[static_cast<std::size_t>(stretches.StretchOf(trial->cells[d]))];
  }
  const int least = *std::min_element(uses.begin(), uses.end());
  std::vector<int> rare;
  for (int i = 0; i < stretches.count(); ++i) {
    if (uses[static_cast<std::size_t>(i)] == least) rare.push_back(i);
  }
  return stretches.Draw(rare[rng.Below(rare.size())], rng);
}

// How alike: by pairs of parameters that are the same.
double SharedPairs(const Cells& a, const Cells& b) {
  double same = 0.0;
  for (std::size_t d = 0; d < a.size(); ++d) same += a[d] == b[d] ? 1.0 : 0.0;
  return same * same;
}

}  // namespace

Point BalancedDraw(const Space& space, const std::vector<LevelAxis>& axes,
                   const std::vector<const LedgerTrial*>& trials, Rng& rng) {
  Point point(axes.size(), kAbsent);
  for (std::size_t d = 0; d < axes.size(); ++d) {
    if (!space.IsActive(static_cast<int>(d), point)) continue;
    point[d] = DrawRare(Stretches{axes[d]}, d, trials, rng);
  }
  return point;
}

Point SpreadDraw(const Space& space, const std::vector<LevelAxis>& axes,
                 const std::vector<const LedgerTrial*>& trials, Rng& rng) {
  constexpr int kSpreadDraws = 32;
  Point best;
  double least = std::numeric_limits<double>::infinity();
  for (int draw = 0; draw < kSpreadDraws; ++draw) {
    Point point = BalancedDraw(space, axes, trials, rng);
    const Cells cells = CellsOf(axes, point);
    double shared = 0.0;
    for (const LedgerTrial* trial : trials) {
      shared += SharedPairs(cells, trial->cells);
    }
    if (shared >= least) continue;
    least = shared;
    best = std::move(point);
  }
  return best;
}

Point FreshPoint(const Space& space, Point point, const PointSet& seen,
                 Rng& rng) {
  constexpr int kDraws = 64;
  for (int draw = 0; draw < kDraws && seen.contains(point); ++draw) {
    point = DrawPoint(space, kFrozenShare, rng);
  }
  if (!seen.contains(point) || !std::isfinite(space.CountPoints())) {
    return point;
  }
  // Each step is one more point that was tried, so this is no long walk.
  const GridPoints grid(space);
  Point walk = grid.First();
  do {
    if (!seen.contains(walk)) return walk;
  } while (grid.Advance(walk));
  return point;
}

}  // namespace frostline::sampler
