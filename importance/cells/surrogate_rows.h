// SPDX-License-Identifier: Apache-2.0
//
// File: surrogate_rows.h
//
// Above kMaxSurrogateAxes parameters, those are left out of which a one-way
// analysis of variance sees least.
#ifndef FROSTLINE_IMPORTANCE_CELLS_SURROGATE_ROWS_H_
#define FROSTLINE_IMPORTANCE_CELLS_SURROGATE_ROWS_H_

#include <cstddef>
#include <vector>

#include "importance/cells/axis_values.h"
#include "study/space.h"
#include "surrogate/rows.h"

namespace frostline::importance {

inline constexpr std::size_t kMaxSurrogateAxes = 48;

struct ParameterValues {
  std::vector<AxisValue> values;  // absent first
  std::vector<std::size_t> value_of_row;
};

struct StudyRows {
  surrogate::Rows rows;
  std::vector<std::size_t> parameters;  // by axis; rising
  std::vector<std::size_t> left_out;
  std::vector<ParameterValues> choices;  // by parameter, also left out

  // `choice` has for each parameter an index into its values.
  surrogate::Cells CellsOf(const std::vector<std::size_t>& choice) const;
};

// REQUIRES: there are as many values as points, at least one; points are in the
// space; `doubt` is as long, or empty.
StudyRows MakeStudyRows(const Space& space,
                        const std::vector<const Point*>& points,
                        std::vector<double> values, std::vector<double> doubt);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_CELLS_SURROGATE_ROWS_H_
