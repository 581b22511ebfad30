// SPDX-License-Identifier: Apache-2.0
//
// File: improvement.h
//
// Expected improvement (Jones et al., 1998, eq. 15) is in logarithms (Ament et
// al., NeurIPS 2023, eq. 9), since far from the best it would underflow, and
// nothing would say which way is better.
#ifndef FROSTLINE_SAMPLER_GP_IMPROVEMENT_H_
#define FROSTLINE_SAMPLER_GP_IMPROVEMENT_H_

namespace frostline::sampler {

// Returns ln E[max(0, best - X)] of a normal X. REQUIRES: deviation > 0.
double LogExpectedImprovement(double mean, double deviation, double best);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_GP_IMPROVEMENT_H_
