// SPDX-License-Identifier: Apache-2.0
//
// File: prediction.h
//
// A model over-praises points picked because it likes them (the winner's
// curse): what is usual of these is taken off, and what the best predicted
// trials lacked; and what is predicted beyond them is believed in part
// (reach.h).
#ifndef FROSTLINE_IMPORTANCE_PLAN_PREDICTION_H_
#define FROSTLINE_IMPORTANCE_PLAN_PREDICTION_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "importance/plan/reach.h"
#include "importance/plan/study_belief.h"
#include "importance/report.h"

namespace frostline::importance {

struct Optimism {
  // Predictions are so much too high, in deviations of the function.
  double lift = 0.0;
  double widen = 1.0;  // factor of all deviations
  Reach reach = {};    // what flattens near the best
};

// `left_out` is the surrogate's.
Optimism FindOptimism(const StudyBelief& belief,
                      const std::vector<surrogate::Belief>& left_out);

// Takes the optimism off worths.
std::vector<double> WithoutOptimism(const WorthDraws& draws, std::size_t point,
                                    const Optimism& optimism);

// The same for points that are set against each other: what flattens brings
// them nearer, draw by draw, while a score by itself is as uncertain as before.
std::vector<double> InContest(const WorthDraws& draws, std::size_t point,
                              const Optimism& optimism);

// Likewise of a pair whose difference is told: both are lower by what is taken
// off `point`, and nearer where what is beyond the usual is believed in part.
void FlattenBeside(std::size_t point, const Optimism& optimism,
                   WorthDraws& draws);

// All who predict these worths share them.
WorthDraws DrawBesideBest(const StudyBelief& belief, const PlanChoice& choice);

// Averages kSeedsOfMean runs.
Interval PredictMean(const StudyBelief& belief,
                     const std::vector<double>& worths,
                     const Optimism& optimism);
// Noise has heavy tails and, where the score is a share, that of so many rows
// (0 is unknown).
Interval PredictRun(const StudyBelief& belief,
                    const std::vector<double>& worths, const Optimism& optimism,
                    std::int64_t evaluation_rows);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_PREDICTION_H_
