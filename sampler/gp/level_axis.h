// SPDX-License-Identifier: Apache-2.0
//
// File: level_axis.h
//
// A parameter as the Gaussian process sees it: a handful of cells. Levels,
// choices and short ranges have one cell a value; a continuous or long range is
// cut into kLineCells cells of equal width on its line (numeric_range.h).
// Ordered cells have a place on [0, 6], so that one length scale means the same
// on every axis, whatever its units and however many levels it has.
//
// Frozen is no place on the line but a kind of its own, the last cell. It is
// tied to the low end of the line (its anchor) as strongly as the data say. A
// parameter that a condition switches off is in that cell too: a module without
// a rate is a frozen one.
#ifndef FROSTLINE_SAMPLER_GP_LEVEL_AXIS_H_
#define FROSTLINE_SAMPLER_GP_LEVEL_AXIS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "sampler/draw/numeric_range.h"
#include "study/space.h"

namespace frostline::sampler {

inline constexpr int kLineCells = 33;
inline constexpr double kAxisLength = 6.0;

// One cell per parameter of the space.
using Cells = std::vector<std::uint8_t>;

struct LevelAxis {
  bool ordered = true;
  int line_cells = 0;          // on the line, or unordered choices
  bool has_kind = false;       // one more cell: frozen or absent
  bool exact = true;           // every cell is one value
  bool frozen_value = false;   // the domain's own frozen, 0
  std::vector<double> places;  // of all cells; of the kind its anchor
  std::optional<NumericRange> range;
  std::vector<double> values;  // of the cells on the line, where exact

  int cells() const { return line_cells + (has_kind ? 1 : 0); }
  // How many of the cells a proposal may choose from, the first ones.
  int choices() const { return line_cells + (frozen_value ? 1 : 0); }
  // REQUIRES: the value is in the domain, or absent and has_kind.
  int CellOf(double value) const;
  // The value in the middle of a cell.
  double ValueOf(int cell) const;
  // Any value of a cell.
  double DrawValueOf(int cell, Rng& rng) const;
};

// One axis per parameter. Nothing when a categorical parameter has more
// choices than cells: then nothing is alike, and there is nothing to model.
std::optional<std::vector<LevelAxis>> MakeLevelAxes(const Space& space);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_GP_LEVEL_AXIS_H_
