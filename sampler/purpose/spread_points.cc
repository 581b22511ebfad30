// SPDX-License-Identifier: Apache-2.0
#include "sampler/purpose/spread_points.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "sampler/gp/fresh_point.h"
#include "sampler/random.h"
#include "surrogate/telling.h"

namespace frostline {
namespace {

constexpr int kDraws = 32;
constexpr int kCandidates = 64;
constexpr std::size_t kMostRows = 240;
// Beyond it the variances cost too much; balance is worth nearly as much.
constexpr std::size_t kMostAxes = 64;
constexpr int kMeasured = 512;  // draws that shares of cells are counted in

PointSet Seen(const TrialList& trials) {
  PointSet seen;
  for (const LedgerTrial* trial : trials) seen.insert(trial->point);
  return seen;
}

surrogate::Axis Measured(const LevelAxis& axis) {
  using surrogate::CellKind;
  surrogate::Axis made;
  const auto cells = static_cast<std::size_t>(axis.cells());
  made.kinds.assign(cells,
                    axis.ordered ? CellKind::kOrdered : CellKind::kAlone);
  made.places.assign(cells, 0.0);
  for (std::size_t c = 0; c < cells; ++c) {
    made.places[c] = axis.exact ? static_cast<double>(c) : axis.places[c];
  }
  if (axis.has_kind) {
    made.kinds.back() =
        axis.frozen_value ? CellKind::kFrozen : CellKind::kAlone;
  }
  made.masses.assign(cells, 0.0);
  return made;
}

// How alike: by pairs of parameters that are the same.
double SharedPairs(const Cells& a, const Cells& b) {
  double same = 0.0;
  for (std::size_t d = 0; d < a.size(); ++d) same += a[d] == b[d] ? 1.0 : 0.0;
  return same * same;
}

// All of them, thinned evenly where there are very many.
std::vector<Cells> Rows(const TrialList& trials) {
  const std::size_t count = std::min(trials.size(), kMostRows);
  std::vector<Cells> rows;
  for (std::size_t i = 0; i < count; ++i) {
    rows.push_back(trials[i * trials.size() / count]->cells);
  }
  return rows;
}

}  // namespace

SpreadPoints::SpreadPoints(const Space& space,
                           const std::vector<LevelAxis>& axes)
    : space_(space), axes_(axes) {
  if (axes_.size() > kMostAxes) return;
  for (const LevelAxis& axis : axes_) measured_.push_back(Measured(axis));
  // Conditions included, the same for every study of the space.
  Rng rng(0, 0);
  for (int draw = 0; draw < kMeasured; ++draw) {
    const Cells cells = CellsOf(DrawPoint(space_, kFrozenShare, rng));
    for (std::size_t d = 0; d < cells.size(); ++d) {
      measured_[d].masses[cells[d]] += 1.0 / kMeasured;
    }
  }
}

Cells SpreadPoints::CellsOf(const Point& point) const {
  Cells cells;
  for (std::size_t d = 0; d < axes_.size(); ++d) {
    cells.push_back(static_cast<std::uint8_t>(axes_[d].CellOf(point[d])));
  }
  return cells;
}

Point SpreadPoints::Design(const TrialList& trials, Rng& rng) const {
  Point best;
  double least = std::numeric_limits<double>::infinity();
  for (int draw = 0; draw < kDraws; ++draw) {
    Point point = BalancedDraw(space_, axes_, trials, rng);
    const Cells cells = CellsOf(point);
    double shared = 0.0;
    for (const LedgerTrial* trial : trials) {
      shared += SharedPairs(cells, trial->cells);
    }
    if (shared >= least) continue;
    least = shared;
    best = std::move(point);
  }
  return FreshPoint(space_, std::move(best), Seen(trials), rng);
}

Point SpreadPoints::Telling(const TrialList& trials, Rng& rng) const {
  if (measured_.empty() || trials.empty()) return Design(trials, rng);
  const PointSet seen = Seen(trials);
  std::vector<Point> points;
  std::vector<Cells> cells;
  for (int draw = 0; draw < kCandidates; ++draw) {
    Point point = DrawPoint(space_, kFrozenShare, rng);
    if (seen.contains(point)) continue;
    cells.push_back(CellsOf(point));
    points.push_back(std::move(point));
  }
  if (points.empty()) {
    return FreshPoint(space_, DrawPoint(space_, kFrozenShare, rng), seen, rng);
  }
  const std::vector<double> told =
      surrogate::Telling(measured_, Rows(trials), cells);
  const auto most = std::max_element(told.begin(), told.end());
  return points[static_cast<std::size_t>(most - told.begin())];
}

}  // namespace frostline
