// SPDX-License-Identifier: Apache-2.0
//
// File: evenness.h
//
// How evenly trials lie over one parameter, counted in parts of it: absent,
// frozen, and of the rest every value, or eighths of it where there are more.
#ifndef FROSTLINE_IMPORTANCE_MEASURE_EVENNESS_H_
#define FROSTLINE_IMPORTANCE_MEASURE_EVENNESS_H_

#include <vector>

#include "importance/measure/measured_axis.h"

namespace frostline {

// ln of the chance that uniform trials lie at least as unevenly (Pearson's
// test); 0 where the parameter cannot vary. `codes` are those of `axis`, one
// for each trial; at least one.
double LogChanceOfUneven(const MeasuredAxis& axis,
                         const std::vector<double>& codes);

}  // namespace frostline

#endif  // FROSTLINE_IMPORTANCE_MEASURE_EVENNESS_H_
