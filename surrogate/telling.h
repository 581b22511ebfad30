// SPDX-License-Identifier: Apache-2.0
//
// File: telling.h
//
// How much one more run would tell: what it takes off the variance of all main
// effects together (Cohn, Ghahramani and Jordan, 1996), each weighed by the
// shares of its cells. Interactions that are not known stand in the way of main
// effects here as they do in the end, so runs that tell them apart win.
//
//   std::vector<double> told = Telling(axes, taken, candidates);
//
// Under the usual scales (scales.h): where to look is asked before values say
// much, and so the answer needs none. Costs O(taken³ + taken² · cells).
#ifndef FROSTLINE_SURROGATE_TELLING_H_
#define FROSTLINE_SURROGATE_TELLING_H_

#include <vector>

#include "surrogate/rows.h"

namespace frostline::surrogate {

// By candidate, in variances of the values. A pure function. REQUIRES: a
// row that is taken; cells of the axes, at most kMaxCells on each.
std::vector<double> Telling(const std::vector<Axis>& axes,
                            const std::vector<Cells>& taken,
                            const std::vector<Cells>& candidates);

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_TELLING_H_
