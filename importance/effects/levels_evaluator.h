// SPDX-License-Identifier: Apache-2.0
//
// File: levels_evaluator.h
//
// The evaluator "levels": shrunken effects of levels, pairs and triples
// (level_effects.h), in shares of the variance that can be explained.
#ifndef FROSTLINE_IMPORTANCE_EFFECTS_LEVELS_EVALUATOR_H_
#define FROSTLINE_IMPORTANCE_EFFECTS_LEVELS_EVALUATOR_H_

#include "absl/status/statusor.h"
#include "importance/evaluator.h"
#include "importance/selection.h"

namespace frostline {

// Of the options it reads `seed`, `pairs`, and of `bootstraps` whether there
// are to be intervals. `out_of_bag_r2` is that of trials left out one by one.
absl::StatusOr<Report> EvaluateLevels(const Space& space,
                                      const Selection& selection,
                                      const EvaluateOptions& options);

}  // namespace frostline

#endif  // FROSTLINE_IMPORTANCE_EFFECTS_LEVELS_EVALUATOR_H_
