// SPDX-License-Identifier: Apache-2.0
//
// File: surrogate_rows.h
//
// A study's trials as rows of a surrogate: every parameter an axis
// (surrogate_axis.h). Of very many parameters those are left out of whose
// values a one-way analysis of variance sees least.
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
  std::vector<AxisValue> values;          // absent is the first
  std::vector<std::size_t> value_of_row;  // of the trials
};

struct StudyRows {
  surrogate::Rows rows;
  std::vector<std::size_t> parameters;   // of the space, by axis; rising
  std::vector<std::size_t> left_out;     // the other parameters
  std::vector<ParameterValues> choices;  // by parameter, left out ones too

  // Of a choice of values: for every parameter an index into its values.
  surrogate::Cells CellsOf(const std::vector<std::size_t>& choice) const;
};

// REQUIRES: as many values as points, at least one; points lie in the space.
// `doubt` is empty or as long.
StudyRows MakeStudyRows(const Space& space,
                        const std::vector<const Point*>& points,
                        std::vector<double> values, std::vector<double> doubt);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_CELLS_SURROGATE_ROWS_H_
