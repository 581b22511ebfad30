// SPDX-License-Identifier: Apache-2.0
//
// File: fine_axis.h
//
// Codes have parts of the space, so fine that trees are exact on levels and
// choices, and to a 48th of a range.
#ifndef FROSTLINE_IMPORTANCE_MIXTURE_FINE_AXIS_H_
#define FROSTLINE_IMPORTANCE_MIXTURE_FINE_AXIS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "importance/cells.h"
#include "importance/forest/tree.h"
#include "importance/measure/measured_axis.h"

namespace frostline::importance {

struct FineAxis {
  std::vector<double> codes;  // rising, if ordered
  std::vector<double> masses;
  std::vector<std::uint16_t> effect_cell;  // of the effect axis, by code
  bool is_ordered = true;

  std::size_t size() const { return codes.size(); }
  // Needs no trial that had the code.
  std::uint16_t NearestTo(double code) const;
  bool GoesLeft(const TreeNode& node, std::size_t at) const;
};

struct EffectAndFineAxis {
  EffectAxis effect;
  FineAxis fine;
};

EffectAndFineAxis MakeFineAxis(const MeasuredAxis& axis,
                               const std::vector<double>& codes);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MIXTURE_FINE_AXIS_H_
