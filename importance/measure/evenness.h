// SPDX-License-Identifier: Apache-2.0
//
// File: evenness.h
//
// Counts n_k in a parameter's parts k (absent, frozen, and its values, or
// eighths of it) are compared with what their shares p_k let expect (Pearson's
// chi-squared test):
//
//   sum over k of (n_k - n p_k)^2 / (n p_k)
#ifndef FROSTLINE_IMPORTANCE_MEASURE_EVENNESS_H_
#define FROSTLINE_IMPORTANCE_MEASURE_EVENNESS_H_

#include <vector>

#include "importance/measure/measured_axis.h"

namespace frostline::importance {

// Returns ln of the chance that uniform trials lie as unevenly; 0 where nothing
// can vary. REQUIRES: there is a code for each trial, at least one.
double LogChanceOfUneven(const MeasuredAxis& axis,
                         const std::vector<double>& codes);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_EVENNESS_H_
