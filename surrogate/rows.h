// SPDX-License-Identifier: Apache-2.0
//
// File: rows.h
#ifndef FROSTLINE_SURROGATE_ROWS_H_
#define FROSTLINE_SURROGATE_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "surrogate/axis.h"

namespace frostline::surrogate {

using Cells = std::vector<std::uint8_t>;  // one cell of each axis

struct Rows {
  std::vector<Axis> axes;
  std::vector<Cells> cells;    // by row
  std::vector<double> values;  // by row; any unit
  // Values that were not seen have further variance, in squares of the unit.
  // Empty means none.
  std::vector<double> doubt;

  std::size_t size() const { return values.size(); }
};

// Is that of a trial that could not be trained. REQUIRES: there is a value.
double DoubtOfHopeless(const std::vector<double>& values);

// Adds such trials with the highest value. REQUIRES: there is a row.
void AddHopeless(const std::vector<Cells>& cells, Rows& rows);

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_ROWS_H_
