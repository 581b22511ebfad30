// SPDX-License-Identifier: Apache-2.0
#include "sampler/gp/study_axes.h"

#include "sampler/draw/random.h"

namespace frostline::sampler {
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

}  // namespace frostline::sampler
