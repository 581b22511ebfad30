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

// One cell of each axis.
using Cells = std::vector<std::uint8_t>;

struct Rows {
  std::vector<Axis> axes;
  std::vector<Cells> cells;    // by row
  std::vector<double> values;  // by row; any unit
  // Further variance, in squares of the unit, of values that were not seen.
  // Empty: none.
  std::vector<double> doubt;

  std::size_t size() const { return values.size(); }
};

// Of a trial that could not be trained. REQUIRES: a value.
double DoubtOfHopeless(const std::vector<double>& values);

// Adds such trials with the highest value. REQUIRES: a row.
void AddHopeless(const std::vector<Cells>& cells, Rows& rows);

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_ROWS_H_
