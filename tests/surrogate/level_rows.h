// SPDX-License-Identifier: Apache-2.0
//
// File: level_rows.h
//
// Rows of a space of levels, the first of them frozen, with a target of one's
// own.
#ifndef FROSTLINE_TESTS_SURROGATE_LEVEL_ROWS_H_
#define FROSTLINE_TESTS_SURROGATE_LEVEL_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/rng.h"
#include "surrogate/rows.h"

namespace frostline::surrogate {

inline Axis LevelAxisOf(std::size_t levels) {
  Axis axis;
  axis.masses.assign(levels, 1.0 / static_cast<double>(levels));
  axis.kinds.assign(levels, CellKind::kOrdered);
  axis.kinds[0] = CellKind::kFrozen;
  for (std::size_t k = 0; k < levels; ++k) {
    axis.places.push_back(static_cast<double>(k) - 1.0);
  }
  return axis;
}

using Target = std::function<double(const Cells&)>;

inline Rows UniformRows(std::size_t axes, std::size_t levels, std::size_t count,
                        double noise, std::uint64_t seed,
                        const Target& target) {
  Rows rows;
  rows.axes.assign(axes, LevelAxisOf(levels));
  Rng rng(seed);
  for (std::size_t i = 0; i < count; ++i) {
    Cells cells;
    for (std::size_t a = 0; a < axes; ++a) {
      cells.push_back(static_cast<std::uint8_t>(rng.Below(levels)));
    }
    rows.values.push_back(target(cells) + noise * rng.Normal());
    rows.cells.push_back(std::move(cells));
  }
  return rows;
}

}  // namespace frostline::surrogate

#endif  // FROSTLINE_TESTS_SURROGATE_LEVEL_ROWS_H_
