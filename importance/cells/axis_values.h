// SPDX-License-Identifier: Apache-2.0
//
// File: axis_values.h
//
// The values of a parameter at which a curve is drawn and among which a plan
// chooses: absent, frozen, then every level, every choice, every small integer,
// and of a range the middle of each stretch (in the logarithm where the range
// is). Each lies in one cell of the parameter's effect axis; several levels or
// choices may share one.
#ifndef FROSTLINE_IMPORTANCE_CELLS_AXIS_VALUES_H_
#define FROSTLINE_IMPORTANCE_CELLS_AXIS_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "importance/cells/level_effects_axis.h"
#include "importance/measure/measured_axis.h"
#include "study/domain.h"

namespace frostline::importance {

struct AxisValue {
  double value = 0.0;  // as in a Point
  std::size_t cell = 0;
  std::int64_t trials = 0;  // that had it, or one in its stretch
};

struct CutAxis {
  EffectAxis effect;                      // with the trials' cells
  std::vector<AxisValue> values;          // at least one; absent is the first
  std::vector<std::size_t> value_of_row;  // of the trials
};

// `codes` are those of `axis`, one for each trial.
CutAxis CutIntoValues(const Domain& domain, const MeasuredAxis& axis,
                      const std::vector<double>& codes);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_CELLS_AXIS_VALUES_H_
