// SPDX-License-Identifier: Apache-2.0
//
// File: tree_work.h
//
// A tree looks at every row and parameter on each level: with ten thousand
// trials of hundreds of parameters it takes seconds.
#ifndef FROSTLINE_IMPORTANCE_MEASURE_TREE_WORK_H_
#define FROSTLINE_IMPORTANCE_MEASURE_TREE_WORK_H_

#include <cstddef>

#include "absl/status/status.h"

namespace frostline::importance {

// Answers REQUEST_INVALID at options.trees, with how many there may be, where
// the answer's forest takes many minutes.
absl::Status CheckTreeWork(std::size_t rows, std::size_t parameters, int trees);

// Says whether all small forests together take about a minute.
bool CanGrowForIntervals(std::size_t rows, std::size_t parameters, int trees);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_TREE_WORK_H_
