// SPDX-License-Identifier: Apache-2.0
//
// File: plan_evidence.h
//
// What trials say of a plan: what it will score, what the best of them is worth
// when its luck is taken off, and which of them are like the plan.
#ifndef FROSTLINE_IMPORTANCE_PLAN_PLAN_EVIDENCE_H_
#define FROSTLINE_IMPORTANCE_PLAN_PLAN_EVIDENCE_H_

#include <cstdint>
#include <vector>

#include "importance/fitted_levels.h"
#include "importance/plan/plan_search.h"

namespace frostline {

// Whether the model is any ground for a plan: some main effect is too large for
// chance, or interactions predict a good part of trials not seen.
bool ExplainsAnything(const LevelEffects& model, double r2);

// The trial with the best target; of equal ones the first.
std::size_t BestRow(const FittedLevels& fitted);

// Expected score of the trials' points in this choice, with what the model
// leaves out, and that the choice was made by the same trials, as part of the
// doubt.
Interval PredictScore(const FittedLevels& fitted, const PlanSearch& search,
                      const PlanChoice& choice);

// Of any point, where the model is no ground to tell points apart.
Interval AverageScore(const FittedLevels& fitted);

// What a trial would score if it were run again: what the model expects there,
// and of its surprise (or that of all trials at its point together) as much as
// the model is known to leave out.
Interval ScoreOfTrial(const FittedLevels& fitted, const PlanSearch& search,
                      std::size_t row);

// Numbers of the trials that differ from the choice least in what matters: each
// parameter counts with its total share.
std::vector<std::int64_t> NearestTrials(const FittedLevels& fitted,
                                        const PlanChoice& choice);

}  // namespace frostline

#endif  // FROSTLINE_IMPORTANCE_PLAN_PLAN_EVIDENCE_H_
