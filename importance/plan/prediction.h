// SPDX-License-Identifier: Apache-2.0
//
// File: prediction.h
//
// What points will score. A point that is picked because a model likes it is
// over-praised by that model (the winner's curse): who picks must not predict.
// So what is usual of picked points is taken off, and what trials lacked of
// what the others predict of them, of those that are predicted best.
#ifndef FROSTLINE_IMPORTANCE_PLAN_PREDICTION_H_
#define FROSTLINE_IMPORTANCE_PLAN_PREDICTION_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "importance/plan/study_belief.h"
#include "importance/report/report.h"

namespace frostline::importance {

struct Optimism {
  // By which points are predicted too high, in deviations of the function.
  double lift = 0.0;
  double widen = 1.0;  // factor of all deviations
};

// `left_out` is what the belief's surrogate says of trials left out.
Optimism FindOptimism(const StudyBelief& belief,
                      const std::vector<surrogate::Belief>& left_out);

// Draws of one point's worth, the optimism off them.
std::vector<double> WithoutOptimism(const WorthDraws& draws, std::size_t point,
                                    const Optimism& optimism);

// Of a point and of the best trial: whoever predicts them says the same.
WorthDraws DrawBesideBest(const StudyBelief& belief, const PlanChoice& choice);

// The mean of kSeedsOfMean runs.
Interval PredictMean(const StudyBelief& belief,
                     const std::vector<double>& worths,
                     const Optimism& optimism);
// One run: with noise of heavy tails, and that of an evaluation set of so many
// rows (0: not known) where the score is a share of them.
Interval PredictRun(const StudyBelief& belief,
                    const std::vector<double>& worths, const Optimism& optimism,
                    std::int64_t evaluation_rows);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_PREDICTION_H_
