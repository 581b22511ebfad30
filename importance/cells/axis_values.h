// SPDX-License-Identifier: Apache-2.0
//
// File: axis_values.h
//
// Values are absent, frozen, every level, choice and small integer, the middle
// of each stretch of a range. Several may share an effect cell.
#ifndef FROSTLINE_IMPORTANCE_CELLS_AXIS_VALUES_H_
#define FROSTLINE_IMPORTANCE_CELLS_AXIS_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "importance/cells.h"
#include "importance/measure/measured_axis.h"
#include "study/space.h"

namespace frostline::importance {

struct AxisValue {
  double value = 0.0;  // as in a Point
  std::size_t cell = 0;
  std::int64_t trials = 0;  // at it, or in its stretch
};

struct CutAxis {
  EffectAxis effect;
  std::vector<AxisValue> values;  // at least one; absent, if any, first
  std::vector<std::size_t> value_of_row;
};

CutAxis CutIntoValues(const Domain& domain, const MeasuredAxis& axis,
                      const std::vector<double>& codes);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_CELLS_AXIS_VALUES_H_
