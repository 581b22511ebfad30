// SPDX-License-Identifier: Apache-2.0
#include "sampler/purpose/spread_points.h"

#include <algorithm>
#include <utility>

#include "sampler/draw/random.h"
#include "sampler/gp/fresh_point.h"
#include "sampler/gp/study_axes.h"
#include "surrogate/questions.h"

namespace frostline::sampler {
namespace {

constexpr int kCandidates = 64;
constexpr std::size_t kMostRows = 240;
// Beyond it the variances cost too much; balance is worth nearly as much.
constexpr std::size_t kMostAxes = 64;

PointSet Seen(const TrialList& trials) {
  PointSet seen;
  for (const LedgerTrial* trial : trials) seen.insert(trial->point);
  return seen;
}

// All of them, thinned evenly where there are very many.
std::vector<Cells> Rows(const TrialList& trials) {
  const std::size_t count = std::min(trials.size(), kMostRows);
  std::vector<Cells> rows;
  rows.reserve(count);
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
  measured_ = StudyAxes(space_, axes_);
}

Point SpreadPoints::Design(const TrialList& trials, Rng& rng) const {
  return FreshPoint(space_, SpreadDraw(space_, axes_, trials, rng),
                    Seen(trials), rng);
}

Point SpreadPoints::Telling(const TrialList& trials, Rng& rng) const {
  if (measured_.empty() || trials.empty()) return Design(trials, rng);
  const PointSet seen = Seen(trials);
  std::vector<Point> points;
  std::vector<Cells> cells;
  for (int draw = 0; draw < kCandidates; ++draw) {
    Point point = DrawPoint(space_, kFrozenShare, rng);
    if (seen.contains(point)) continue;
    cells.push_back(CellsOf(axes_, point));
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

}  // namespace frostline::sampler
