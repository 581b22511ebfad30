// SPDX-License-Identifier: Apache-2.0
//
// File: rows.h
//
// What a surrogate learns from: trials as cells, each with a value.
#ifndef FROSTLINE_SURROGATE_ROWS_H_
#define FROSTLINE_SURROGATE_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "surrogate/axis.h"

namespace frostline::surrogate {

// One cell for each axis.
using Cells = std::vector<std::uint8_t>;

struct Rows {
  std::vector<Axis> axes;
  std::vector<Cells> cells;    // by row
  std::vector<double> values;  // by row; any unit
  // Variance of a value beside that of all rows, in the square of its unit: of
  // a trial that has no value of its own. Empty: none.
  std::vector<double> doubt;

  std::size_t size() const { return values.size(); }
};

// Of a trial that could not be trained: it stands for as bad as the worst
// value, or better, or worse. REQUIRES: a value.
double DoubtOfHopeless(const std::vector<double>& values);

// Adds such trials, as bad as the highest value. REQUIRES: a row.
void AddHopeless(const std::vector<Cells>& cells, Rows& rows);

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_ROWS_H_
