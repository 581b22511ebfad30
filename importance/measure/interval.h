// SPDX-License-Identifier: Apache-2.0
//
// File: interval.h
//
// The ends hold the number in 80 % and 95 % of cases. All are equal where no
// spread is known:
//
//   lo95 <= lo80 <= value <= hi80 <= hi95
#ifndef FROSTLINE_IMPORTANCE_MEASURE_INTERVAL_H_
#define FROSTLINE_IMPORTANCE_MEASURE_INTERVAL_H_

namespace frostline::importance {

struct Interval {
  double value = 0.0;
  double lo80 = 0.0;
  double hi80 = 0.0;
  double lo95 = 0.0;
  double hi95 = 0.0;
};

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_INTERVAL_H_
