// SPDX-License-Identifier: Apache-2.0
#include "sampler/gp/level_choices.h"

#include <cstdlib>
#include <numeric>

#include "sampler/draw/random.h"

namespace frostline::sampler {
namespace {

constexpr int kFewCells = 17;  // all of so many are looked at

}  // namespace

LevelChoices::LevelChoices(const Space& space,
                           const std::vector<LevelAxis>& axes, Rng& rng)
    : space_(space),
      axes_(axes),
      rng_(rng),
      conditional_(space.HasConditions()),
      is_parent_(axes.size(), false) {
  for (const Parameter& parameter : space.parameters()) {
    if (!parameter.condition.has_value()) continue;
    is_parent_[static_cast<std::size_t>(parameter.condition->parent)] = true;
  }
}

std::uint8_t LevelChoices::DrawChoice(const LevelAxis& axis) {
  // Of a long line the frozen cell would be drawn too rarely.
  if (axis.frozen_value && !axis.exact && rng_.Uniform() < kFrozenShare) {
    return static_cast<std::uint8_t>(axis.line_cells);
  }
  return static_cast<std::uint8_t>(
      rng_.Below(static_cast<std::uint64_t>(axis.choices())));
}

Cells LevelChoices::Draw() {
  Cells choices;
  for (const LevelAxis& axis : axes_) choices.push_back(DrawChoice(axis));
  return choices;
}

Cells LevelChoices::Vary(Cells from, double share) {
  Complete(from);
  for (std::size_t d = 0; d < axes_.size(); ++d) {
    if (rng_.Uniform() < share) from[d] = DrawChoice(axes_[d]);
  }
  return from;
}

void LevelChoices::Complete(Cells& choices) {
  for (std::size_t d = 0; d < axes_.size(); ++d) {
    if (choices[d] >= axes_[d].choices()) choices[d] = DrawChoice(axes_[d]);
  }
}

Point LevelChoices::MakePoint(const Cells& choices, Rng* any) const {
  Point point(axes_.size(), kAbsent);
  for (std::size_t d = 0; d < axes_.size(); ++d) {
    if (!conditional_ || space_.IsActive(static_cast<int>(d), point)) {
      point[d] = any == nullptr ? axes_[d].ValueOf(choices[d])
                                : axes_[d].DrawValueOf(choices[d], *any);
    }
  }
  return point;
}

Point LevelChoices::PointOf(const Cells& choices) const {
  return MakePoint(choices, nullptr);
}

Point LevelChoices::DrawPointOf(const Cells& choices) {
  return MakePoint(choices, &rng_);
}

Cells LevelChoices::ActiveCells(const Cells& choices,
                                std::vector<bool>& active) const {
  if (!conditional_) return choices;
  Cells cells = choices;
  const Point point = PointOf(choices);
  for (std::size_t d = 0; d < axes_.size(); ++d) {
    active[d] = !IsAbsent(point[d]);
    if (!active[d]) cells[d] = static_cast<std::uint8_t>(axes_[d].line_cells);
  }
  return cells;
}

std::vector<int> LevelChoices::CellsToLook(std::size_t axis, int now) const {
  const int choices = axes_[axis].choices();
  std::vector<int> cells;
  if (choices <= kFewCells || !axes_[axis].ordered) {
    cells.resize(static_cast<std::size_t>(choices));
    std::iota(cells.begin(), cells.end(), 0);
    return cells;
  }
  // A long line is looked at coarsely, and closely around where we are.
  for (int cell = 0; cell < choices; ++cell) {
    if (cell % 4 == 0 || std::abs(cell - now) <= 2 || cell + 1 == choices) {
      cells.push_back(cell);
    }
  }
  return cells;
}

}  // namespace frostline::sampler
