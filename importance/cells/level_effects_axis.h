// SPDX-License-Identifier: Apache-2.0
//
// File: level_effects_axis.h
//
// One parameter as level effects see it: cells with shares of the space, and
// functions over them, orthonormal under these and orthogonal to the constant.
// So an effect's variance is the sum of its squared coefficients, effects of
// different terms are orthogonal, and the ANOVA decomposition is read off.
#ifndef FROSTLINE_IMPORTANCE_CELLS_LEVEL_EFFECTS_AXIS_H_
#define FROSTLINE_IMPORTANCE_CELLS_LEVEL_EFFECTS_AXIS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "importance/measure/measured_axis.h"

namespace frostline::importance {

// Longer lists are put together: neighbours, or without an order the choices
// tried least.
inline constexpr std::size_t kMaxEffectCells = 24;

// The last cells of a continuous axis: stretches of its range.
inline constexpr std::size_t kEffectStretches = 12;

struct EffectAxis {
  std::vector<double> masses;
  std::vector<std::uint16_t> cell_of_row;  // by trial
  std::size_t functions = 0;               // 0: it cannot vary
  // Cells x functions: each function times the root of its prior variance; the
  // prior variances add up to 1.
  std::vector<double> basis;
  std::vector<double> prior;  // by function
  // Where levels follow each other: the functions' weights if neighbours are
  // alike and the first level is free, 1 on average.
  std::vector<double> graded;
  std::vector<double> kernel;  // basis times its transpose
  // From `first_ordered` on, cells rise.
  bool is_ordered = true;
  std::size_t first_ordered = 0;

  std::size_t cells() const { return masses.size(); }
};

// `codes` are the trials'.
EffectAxis MakeEffectAxis(const MeasuredAxis& axis,
                          const std::vector<double>& codes);

// All but the cells, from the masses (effect_basis.cc). `smooth`: neighbouring
// stretches are mostly alike.
void MakeEffectBasis(EffectAxis& axis, bool smooth);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_CELLS_LEVEL_EFFECTS_AXIS_H_
