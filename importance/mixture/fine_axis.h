// SPDX-License-Identifier: Apache-2.0
//
// File: fine_axis.h
//
// One parameter as level effects and trees both see it: a list of codes, each
// standing for a part of the space, so fine that trees are read off it exactly
// on levels and choices, and to a 48th of a range.
#ifndef FROSTLINE_IMPORTANCE_MIXTURE_FINE_AXIS_H_
#define FROSTLINE_IMPORTANCE_MIXTURE_FINE_AXIS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "importance/cells/level_effects_axis.h"
#include "importance/forest/tree.h"
#include "importance/measure/measured_axis.h"

namespace frostline::importance {

struct FineAxis {
  std::vector<double> codes;  // of an ordered axis rising
  std::vector<double> masses;
  std::vector<std::uint16_t> effect_cell;  // of the effect axis, by code
  bool is_ordered = true;

  std::size_t size() const { return codes.size(); }
  // The index of the code nearest to this one, which no trial need have had.
  std::uint16_t NearestTo(double code) const;
  // Whether the code goes left where a tree splits this axis.
  bool GoesLeft(const TreeNode& node, std::size_t at) const;
};

// An axis and the cells that level effects cut it into; `codes` are those of
// the trials, one for each.
struct EffectAndFineAxis {
  EffectAxis effect;
  FineAxis fine;
};

EffectAndFineAxis MakeFineAxis(const MeasuredAxis& axis,
                               const std::vector<double>& codes);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MIXTURE_FINE_AXIS_H_
