// SPDX-License-Identifier: Apache-2.0
//
// File: telling.h
//
// One more run would take so much off the variance of all main effects (Cohn,
// Ghahramani and Jordan, 1996), each weighed by the shares of its cells.
// Unknown interactions stand in their way, so runs that tell them apart win.
//
// Scales are the usual ones, without values. Costs O(taken · (taken + cells) ·
// (taken + candidates)).
#ifndef FROSTLINE_SURROGATE_TELLING_H_
#define FROSTLINE_SURROGATE_TELLING_H_

#include <vector>

#include "surrogate/rows.h"

namespace frostline::surrogate {

// Answers in variances of the values. REQUIRES: there is a taken row; there are
// at most kMaxCells cells.
std::vector<double> Telling(const std::vector<Axis>& axes,
                            const std::vector<Cells>& taken,
                            const std::vector<Cells>& candidates);

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_TELLING_H_
