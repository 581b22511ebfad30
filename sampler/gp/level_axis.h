// SPDX-License-Identifier: Apache-2.0
//
// File: level_axis.h
//
// A parameter has a cell for each value, or kLineCells of equal width for a
// continuous or long range. Ordered cells have a place on [0, 6], so that one
// length scale means the same on every axis.
//
// Frozen is a kind of its own, the last cell, tied to the low end of the line
// (its anchor) as strongly as the data say. What a condition switches off is in
// that cell too: a module without a rate is a frozen one. The anchor of what is
// no rate is the middle.
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

using Cells = std::vector<std::uint8_t>;

struct LevelAxis {
  bool ordered = true;
  int line_cells = 0;          // on the line, or unordered choices
  bool has_kind = false;       // one more cell: frozen or absent
  bool exact = true;           // every cell is one value
  bool frozen_value = false;   // the domain's own frozen, 0
  std::vector<double> places;  // of all cells; of the kind its anchor
  std::optional<NumericRange> range;
  std::vector<double> values;  // on the line, where exact

  int cells() const { return line_cells + (has_kind ? 1 : 0); }
  // A proposal may choose from these first cells.
  int choices() const { return line_cells + (frozen_value ? 1 : 0); }
  // REQUIRES: the value is in the domain, or absent and has_kind.
  int CellOf(double value) const;
  // Returns the middle of the cell.
  double ValueOf(int cell) const;
  double DrawValueOf(int cell, Rng& rng) const;
};

// Answers nothing when a categorical parameter has more than kLineCells
// choices: then there is nothing to model.
std::optional<std::vector<LevelAxis>> MakeLevelAxes(const Space& space);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_GP_LEVEL_AXIS_H_
