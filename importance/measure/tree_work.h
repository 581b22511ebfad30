// SPDX-License-Identifier: Apache-2.0
//
// File: tree_work.h
//
// How many trees an evaluator may grow on a study. One tree looks at every row
// and every parameter on each of its levels, so ten thousand trials of hundreds
// of parameters take seconds for one, and an evaluator that wants hundreds of
// trees for its intervals would be waited for in vain.
#ifndef FROSTLINE_IMPORTANCE_MEASURE_TREE_WORK_H_
#define FROSTLINE_IMPORTANCE_MEASURE_TREE_WORK_H_

#include <cstddef>

#include "absl/status/status.h"

namespace frostline::importance {

// Of the forest that the answer is read from. REQUEST_INVALID at options.trees,
// with how many there may be, when these would take many minutes.
absl::Status CheckTreeWork(std::size_t rows, std::size_t parameters, int trees);

// Of all the small forests for intervals and chance together: whether they are
// done in about a minute.
bool CanGrowForIntervals(std::size_t rows, std::size_t parameters, int trees);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_TREE_WORK_H_
