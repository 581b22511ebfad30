// SPDX-License-Identifier: Apache-2.0
//
// File: cells.h
//
// Functions over cells are orthonormal under shares of the space and orthogonal
// to the constant, so effects of different terms are orthogonal, and the ANOVA
// decomposition is read off.
#ifndef FROSTLINE_IMPORTANCE_CELLS_H_
#define FROSTLINE_IMPORTANCE_CELLS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "importance/measure/measured_axis.h"

namespace frostline::importance {

// Longer lists put neighbours together or, without an order, the choices tried
// least.
inline constexpr std::size_t kMaxEffectCells = 24;

// A continuous axis ends with so many stretches of its range.
inline constexpr std::size_t kEffectStretches = 12;

struct EffectAxis {
  std::vector<double> masses;
  std::vector<std::uint16_t> cell_of_row;  // by trial
  std::size_t functions = 0;               // 0: it cannot vary
  // Cells x functions. Each function is multiplied by the root of its prior
  // variance, and these variances add up to 1.
  std::vector<double> basis;
  std::vector<double> prior;  // by function
  // Where levels follow each other, the functions have these weights if
  // neighbours are alike and the first level is free, 1 on average.
  std::vector<double> graded;
  std::vector<double> kernel;  // basis times its transpose
  bool is_ordered = true;
  std::size_t first_ordered = 0;  // from here on cells rise

  std::size_t cells() const { return masses.size(); }
};

EffectAxis MakeEffectAxis(const MeasuredAxis& axis,
                          const std::vector<double>& codes);

// Fills in all but the cells, from the masses (cells.cc); neighbouring
// stretches are mostly alike if `smooth`.
void MakeEffectBasis(EffectAxis& axis, bool smooth);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_CELLS_H_
