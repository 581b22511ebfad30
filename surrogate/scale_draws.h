// SPDX-License-Identifier: Apache-2.0
//
// File: scale_draws.h
//
// Fisher scoring finds the mode of the scales' posterior; draws by the
// curvature there are weighted by likelihood (importance sampling), the largest
// weights cut (Ionides, 2008).
#ifndef FROSTLINE_SURROGATE_SCALE_DRAWS_H_
#define FROSTLINE_SURROGATE_SCALE_DRAWS_H_

#include <memory>
#include <stop_token>
#include <vector>

#include "base/rng.h"
#include "surrogate/evidence.h"
#include "surrogate/scales.h"

namespace frostline::surrogate {

VectorXd NormalVector(Index size, Rng& rng);

struct ScaleDraw {
  std::unique_ptr<Evidence> evidence;
  double weight = 0.0;  // they add up to 1
};

// Is never null: it stays where no step improves, or where it is stopped.
std::unique_ptr<Evidence> FindMode(const StandardRows& rows,
                                   const ScalePrior& prior,
                                   const VectorXd& start, int steps,
                                   const std::stop_token& stop = {});

// Returns at least one; `mode` is among them. A stop leaves the others out.
std::vector<ScaleDraw> DrawScales(const StandardRows& rows,
                                  const ScalePrior& prior,
                                  std::unique_ptr<Evidence> mode, int count,
                                  Rng& rng, const std::stop_token& stop = {});

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_SCALE_DRAWS_H_
