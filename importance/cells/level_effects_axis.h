// SPDX-License-Identifier: Apache-2.0
//
// File: level_effects_axis.h
//
// One parameter as level effects see it: cells (a level, a choice, a stretch of
// a range, frozen, absent), each with its share of the space, and functions
// over the cells that are orthonormal under that measure and orthogonal to the
// constant. So the variance of an effect is the sum of its squared
// coefficients, and effects of different terms (one, two or three parameters)
// are orthogonal: the ANOVA decomposition is read off, not computed.
#ifndef FROSTLINE_IMPORTANCE_CELLS_LEVEL_EFFECTS_AXIS_H_
#define FROSTLINE_IMPORTANCE_CELLS_LEVEL_EFFECTS_AXIS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "importance/measure/measured_axis.h"

namespace frostline::importance {

// Longer lists of values are put together: neighbours where there is an order,
// else the choices that were tried least.
inline constexpr std::size_t kMaxEffectCells = 24;

// The last so many cells of an axis with a continuous range are stretches of
// it.
inline constexpr std::size_t kEffectStretches = 12;

struct EffectAxis {
  std::vector<double> masses;              // of the cells
  std::vector<std::uint16_t> cell_of_row;  // by trial
  std::size_t functions = 0;               // 0: it cannot vary
  // Cells x functions: each function times the root of its prior variance; the
  // prior variances add up to 1, that of one effect's variance.
  std::vector<double> basis;
  std::vector<double> prior;  // of each function
  // Where levels follow each other: the functions' weights, on average 1, if
  // neighbours are alike and the first level is free. Empty elsewhere.
  std::vector<double> graded;
  std::vector<double> kernel;  // cells x cells: basis times its transpose
  // Cells from `first_ordered` on are in the order of their values.
  bool is_ordered = true;
  std::size_t first_ordered = 0;  // after absent

  std::size_t cells() const { return masses.size(); }
};

// `codes` are those of `axis`, one for each trial.
EffectAxis MakeEffectAxis(const MeasuredAxis& axis,
                          const std::vector<double>& codes);

// The part of MakeEffectAxis that fills in all but the cells, from the masses
// (effect_basis.cc). `smooth`: neighbouring stretches of a range are mostly
// alike.
void MakeEffectBasis(EffectAxis& axis, bool smooth);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_CELLS_LEVEL_EFFECTS_AXIS_H_
