// SPDX-License-Identifier: Apache-2.0
//
// File: scale_draws.h
//
// Scales integrated instead of fixed at their best: what few trials leave open
// about how large each effect is belongs into every interval. The mode of their
// posterior is found by Fisher scoring; draws around it, by the curvature
// there, are weighted by how likely they really are (importance sampling), the
// largest weights being cut (Ionides, 2008).
#ifndef FROSTLINE_SURROGATE_SCALE_DRAWS_H_
#define FROSTLINE_SURROGATE_SCALE_DRAWS_H_

#include <memory>
#include <vector>

#include "base/rng.h"
#include "surrogate/evidence.h"
#include "surrogate/scales.h"

namespace frostline::surrogate {

// Independent, of mean 0 and variance 1.
VectorXd NormalVector(Index size, Rng& rng);

struct ScaleDraw {
  std::unique_ptr<Evidence> evidence;
  double weight = 0.0;  // all of them add up to 1
};

// The mode, by at most `steps` steps from `start`. Never fails: where a step
// finds nothing better it is where it was.
std::unique_ptr<Evidence> FindMode(const StandardRows& rows,
                                   const ScalePrior& prior,
                                   const VectorXd& start, int steps);

// At least one draw. `mode` is one of them.
std::vector<ScaleDraw> DrawScales(const StandardRows& rows,
                                  const ScalePrior& prior,
                                  std::unique_ptr<Evidence> mode, int count,
                                  Rng& rng);

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_SCALE_DRAWS_H_
