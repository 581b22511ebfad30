// SPDX-License-Identifier: Apache-2.0
//
// File: evenness.h
//
// How evenly trials lie over one parameter. Trials n_k are counted in parts k
// of it (absent, frozen, and of the rest every value, or eighths of it where
// there are more) and compared with what the parts' shares p_k let expect
// (Pearson's chi-squared test):
//
//   sum over k of (n_k - n p_k)^2 / (n p_k)
#ifndef FROSTLINE_IMPORTANCE_MEASURE_EVENNESS_H_
#define FROSTLINE_IMPORTANCE_MEASURE_EVENNESS_H_

#include <vector>

#include "importance/measure/measured_axis.h"

namespace frostline::importance {

// ln of the chance that uniform trials lie at least as unevenly (Pearson's
// test); 0 where the parameter cannot vary. `codes` are those of `axis`, one
// for each trial; at least one.
double LogChanceOfUneven(const MeasuredAxis& axis,
                         const std::vector<double>& codes);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_EVENNESS_H_
