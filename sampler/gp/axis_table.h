// SPDX-License-Identifier: Apache-2.0
//
// File: axis_table.h
//
// T_d of level_kernel.h, for every pair of cells of one axis, with what
// learning needs of it.
#ifndef FROSTLINE_SAMPLER_GP_AXIS_TABLE_H_
#define FROSTLINE_SAMPLER_GP_AXIS_TABLE_H_

#include <cstddef>
#include <vector>

#include "sampler/gp/level_axis.h"

namespace frostline {

// Entries are at [cell * cells + cell].
struct AxisTable {
  std::size_t cells = 0;
  double additive = 0.0;          // a_d
  double strength = 0.0;          // s_d
  std::vector<double> base;       // T_d
  std::vector<double> by_length;  // its derivative by the log length
  std::vector<double> by_frozen_tie;
  std::vector<double> factor;  // 1 - s_d + s_d T_d
};

// T_d and its derivatives; the weights and factors are the kernel's to fill in.
AxisTable MakeAxisTable(const LevelAxis& axis, double length,
                        double frozen_tie);

}  // namespace frostline

#endif  // FROSTLINE_SAMPLER_GP_AXIS_TABLE_H_
