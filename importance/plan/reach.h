// SPDX-License-Identifier: Apache-2.0
//
// File: reach.h
//
// How far predictions reach. Surfaces flatten near their best, on the scale
// that saturates too: each of seven modules adds, all of them add less than
// their sum, and a plan is where all come together. What trials showed that
// were left out of the fit tells it, by a line through the best predicted ones:
//
//   seen = usual + part (predicted - usual),   part ~ N(.7, .3²) before a trial
//
// Beyond the furthest prediction, where no trial is, that part counts again:
//
//   const Reach reach = {.usual = 2.6, .furthest = 2.9, .part = 0.5};
//   Reached(reach, 3.3, reach.part);  // 2.6 + 0.5 * 0.3 + 0.25 * 0.4 = 2.85
#ifndef FROSTLINE_IMPORTANCE_PLAN_REACH_H_
#define FROSTLINE_IMPORTANCE_PLAN_REACH_H_

#include <limits>
#include <vector>

namespace frostline::importance {

struct Reach {
  double usual = std::numeric_limits<double>::infinity();  // the mean of them
  double furthest = std::numeric_limits<double>::infinity();
  double part = 1.0;
  double part_error = 0.0;
};

// Worths of the best predicted trials, as they were predicted without
// themselves, and as they were. REQUIRES: both are as long, and not empty.
Reach FindReach(const std::vector<double>& predicted,
                const std::vector<double>& seen);

// What a prediction comes to if `part` of what is beyond the usual is real.
double Reached(const Reach& reach, double predicted, double part);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_REACH_H_
