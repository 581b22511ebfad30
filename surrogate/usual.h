// SPDX-License-Identifier: Apache-2.0
//
// File: usual.h
//
// This is usual of variances for values of mean 0 and variance 1, in
// importance. A search, whose trials are few and near the best, may know other
// things as usual.
#ifndef FROSTLINE_SURROGATE_USUAL_H_
#define FROSTLINE_SURROGATE_USUAL_H_

namespace frostline::surrogate {

struct Usual {
  double noise = 0.25;
  double length = 3.0;            // steps between levels
  double length_deviation = 0.8;  // of its logarithm
  double main = 0.4;              // all main effects together
  double main_deviation = 2.0;    // of the logarithm of each
  double joint = 1.0;             // all pairs have half of its square
};

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_USUAL_H_
