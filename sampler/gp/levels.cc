// SPDX-License-Identifier: Apache-2.0
#include "sampler/gp/levels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

#include "sampler/draw/finite.h"
#include "sampler/draw/random.h"

namespace frostline::sampler {
namespace {

// Where a value lies between the ends of its line, 0 … 1.
double ShareOf(const NumericRange& range, double value) {
  const double lo = range.ToBox(range.lo), hi = range.ToBox(range.hi);
  // Halved, because a range may be as wide as a double can hold.
  const double width = hi / 2.0 - lo / 2.0;
  if (!(width > 0.0)) return 0.0;
  return std::clamp((range.ToBox(value) / 2.0 - lo / 2.0) / width, 0.0, 1.0);
}

double AtShare(const NumericRange& range, double share) {
  const double lo = range.ToBox(range.lo), hi = range.ToBox(range.hi);
  return range.FromBox(lo * (1.0 - share) + hi * share);
}

// Values of the line: indices of levels without the frozen one, else all.
std::vector<double> LineValues(const Domain& domain, bool frozen_value) {
  std::vector<double> values = ListValues(domain);
  if (frozen_value) values.erase(values.begin());
  return values;
}

bool IsRateAxis(const Domain& domain) {
  return std::holds_alternative<Levels>(domain) ||
         std::holds_alternative<LogUniform>(domain);
}

LevelAxis MakeAxis(const Parameter& parameter) {
  LevelAxis axis;
  const Domain& domain = parameter.domain;
  axis.ordered = !std::holds_alternative<Categorical>(domain);
  axis.range = NumericRangeOf(domain);
  axis.frozen_value = FreezesByValue(domain);
  axis.has_kind = axis.frozen_value || parameter.condition.has_value();
  axis.exact = CountValues(domain) <= kLineCells;
  if (axis.exact) axis.values = LineValues(domain, axis.frozen_value);
  axis.line_cells =
      axis.exact ? static_cast<int>(axis.values.size()) : kLineCells;
  for (int cell = 0; cell < axis.line_cells; ++cell) {
    const double share =
        !axis.range.has_value() ? 0.0
        : axis.exact
            ? ShareOf(*axis.range, axis.values[static_cast<std::size_t>(cell)])
            : static_cast<double>(cell) / (kLineCells - 1);
    axis.places.push_back(kAxisLength * share);
  }
  // Frozen is next to the smallest rate, if to any. What is absent for another
  // reason is nearest to the middle.
  const double anchor = IsRateAxis(domain) ? 0.0 : kAxisLength / 2.0;
  if (axis.has_kind) axis.places.push_back(anchor);
  return axis;
}

}  // namespace

int LevelAxis::CellOf(double value) const {
  if (IsAbsent(value)) return line_cells;
  if (frozen_value && value == 0.0) return line_cells;
  if (!exact) {
    const double share = ShareOf(*range, value);
    return static_cast<int>(std::nearbyint(share * (kLineCells - 1)));
  }
  // Stepped values carry the rounding of whoever computed them.
  const auto after = std::lower_bound(values.begin(), values.end(), value);
  if (after == values.begin()) return 0;
  if (after == values.end()) return line_cells - 1;
  const auto index = static_cast<int>(after - values.begin());
  return *after - value <= value - *(after - 1) ? index : index - 1;
}

double LevelAxis::ValueOf(int cell) const {
  if (cell >= line_cells) return frozen_value ? 0.0 : kAbsent;
  if (exact) return values[static_cast<std::size_t>(cell)];
  return AtShare(*range, static_cast<double>(cell) / (kLineCells - 1));
}

double LevelAxis::DrawValueOf(int cell, Rng& rng) const {
  if (exact || cell >= line_cells) return ValueOf(cell);
  const double place = cell + rng.Uniform() - 0.5;
  return AtShare(*range, std::clamp(place / (kLineCells - 1), 0.0, 1.0));
}

std::optional<std::vector<LevelAxis>> MakeLevelAxes(const Space& space) {
  std::vector<LevelAxis> axes;
  for (const Parameter& parameter : space.parameters()) {
    const auto* choices = std::get_if<Categorical>(&parameter.domain);
    if (choices != nullptr && choices->choices.size() > kLineCells) {
      return std::nullopt;
    }
    axes.push_back(MakeAxis(parameter));
  }
  return axes;
}

namespace {

using surrogate::CellKind;

constexpr int kMeasured = 512;  // draws that shares of cells are counted in

surrogate::Axis WithoutMasses(const LevelAxis& axis) {
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

}  // namespace

Cells CellsOf(const std::vector<LevelAxis>& axes, const Point& point) {
  Cells cells;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    cells.push_back(static_cast<std::uint8_t>(axes[d].CellOf(point[d])));
  }
  return cells;
}

std::vector<surrogate::Axis> StudyAxes(const Space& space,
                                       const std::vector<LevelAxis>& axes) {
  std::vector<surrogate::Axis> made;
  made.reserve(axes.size());
  for (const LevelAxis& axis : axes) made.push_back(WithoutMasses(axis));
  Rng rng(0, 0);
  for (int draw = 0; draw < kMeasured; ++draw) {
    const Cells cells = CellsOf(axes, DrawPoint(space, kFrozenShare, rng));
    for (std::size_t d = 0; d < cells.size(); ++d) {
      made[d].masses[cells[d]] += 1.0 / kMeasured;
    }
  }
  return made;
}

std::vector<surrogate::Axis> SearchAxes(const Space& space,
                                        const std::vector<LevelAxis>& axes,
                                        std::size_t earlier) {
  std::vector<surrogate::Axis> made = StudyAxes(space, axes);
  for (surrogate::Axis& axis : made) axis.smooth = true;
  if (earlier == 0) return made;
  const std::size_t cells = earlier + 1;
  surrogate::Axis& study = made.emplace_back();
  study.masses.assign(cells, 1.0 / static_cast<double>(cells));
  study.kinds.assign(cells, CellKind::kAlone);
  study.places.assign(cells, 0.0);
  return made;
}

namespace {

constexpr double kNoBest = std::numeric_limits<double>::infinity();
constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

bool IsFeasible(const Observation& trial) {
  return std::all_of(trial.constraints.begin(), trial.constraints.end(),
                     [](double constraint) { return constraint <= 0.0; });
}

// Returns how the trial keeps each constraint. A value that is no number breaks
// it. A pruned trial keeps what it has not measured, but that says nothing of
// the point.
std::vector<double> ConstraintsOf(const Observation& trial) {
  const bool pruned = trial.state == TrialState::kPruned;
  std::vector<double> constraints = trial.constraints;
  for (double& one : constraints) {
    if (std::isnan(one)) one = kNoBest;
    if (pruned && one == -kNoBest) one = kNotMeasured;
  }
  return constraints;
}

// What a pruned trial reported last; infinite when that is no number.
double LastReport(const Observation& trial, const Objective& objective) {
  if (trial.intermediate.empty()) return kNoBest;
  const double loss = AsLoss(objective, trial.intermediate.back().value);
  return std::isfinite(loss) ? loss : kNoBest;
}

}  // namespace

std::optional<LedgerTrial> LedgerTrialOf(const Observation& trial,
                                         const Space& space,
                                         const std::vector<LevelAxis>& axes,
                                         const Objective& objective) {
  LedgerTrial entry;
  entry.number = trial.number;
  entry.feasible = IsFeasible(trial);
  switch (trial.state) {
    case TrialState::kQueued:
    case TrialState::kRunning:
      break;
    case TrialState::kSucceeded:
      if (trial.values.empty() || !std::isfinite(trial.values[0])) {
        return std::nullopt;
      }
      entry.part = TrialPart::kValued;
      entry.constraints = ConstraintsOf(trial);
      entry.loss = AsLoss(objective, trial.values[0]);
      break;
    case TrialState::kPruned:
      entry.part = TrialPart::kValued;
      entry.constraints = ConstraintsOf(trial);
      entry.pruned = true;
      entry.loss = LastReport(trial, objective);
      break;
    case TrialState::kInfeasible:
    case TrialState::kFailed:
      entry.part = TrialPart::kFailed;
      entry.feasible = false;
      break;
    case TrialState::kCancelled:
      return std::nullopt;
  }
  if (!space.Check(trial.point).ok()) return std::nullopt;
  entry.point = trial.point;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    const int cell = axes[d].CellOf(trial.point[d]);
    entry.cells.push_back(static_cast<std::uint8_t>(cell));
    if (axes[d].exact) entry.point[d] = axes[d].ValueOf(cell);
    // A module that is switched off and one that is frozen share a cell.
    if (IsAbsent(trial.point[d])) entry.point[d] = kAbsent;
  }
  return entry;
}

void TrialLedger::CatchUp(const History& history) {
  if (history.revision() == revision_) return;
  for (const std::size_t i : doubted_) trials_[i]->part = TrialPart::kValued;
  doubted_.clear();
  if (history.revision() < revision_) {
    revision_ = 0;
    trials_.clear();
  }
  trials_.resize(history.size());
  for (; revision_ < history.revision(); ++revision_) {
    const auto i = history.changes()[static_cast<std::size_t>(revision_)];
    trials_[i] = LedgerTrialOf(history.trials()[i], space_, axes_, objective_);
  }
  DoubtOffScale();
}

// Early values of pruned trials are of another step: they are not judged.
void TrialLedger::DoubtOffScale() {
  std::vector<std::size_t> places;
  std::vector<double> losses;
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    const std::optional<LedgerTrial>& trial = trials_[i];
    if (!trial.has_value() || trial->part != TrialPart::kValued ||
        trial->pruned) {
      continue;
    }
    places.push_back(i);
    losses.push_back(trial->loss);
  }
  const std::vector<ValueScale> scales = FindOffScale(objective_, losses);
  for (std::size_t j = 0; j < places.size(); ++j) {
    if (scales[j] != ValueScale::kOffBetter) continue;
    trials_[places[j]]->part = TrialPart::kRunning;
    doubted_.push_back(places[j]);
  }
}

std::vector<const LedgerTrial*> TrialLedger::List(std::int64_t own) const {
  std::vector<const LedgerTrial*> list;
  for (const std::optional<LedgerTrial>& trial : trials_) {
    if (trial.has_value() && trial->number != own) list.push_back(&*trial);
  }
  std::sort(list.begin(), list.end(),
            [](const LedgerTrial* a, const LedgerTrial* b) {
              return a->number < b->number;
            });
  return list;
}

namespace {

// Stretches of a long line that count as one.
constexpr int kStretches = 7;

// The parts of an axis in which a draw may fall: each of its cells or, of a
// long line, its stretches and frozen.
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
