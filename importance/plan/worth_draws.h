// SPDX-License-Identifier: Apache-2.0
//
// File: worth_draws.h
#ifndef FROSTLINE_IMPORTANCE_PLAN_WORTH_DRAWS_H_
#define FROSTLINE_IMPORTANCE_PLAN_WORTH_DRAWS_H_

#include <cstddef>
#include <vector>

#include "importance/plan/study_belief.h"
#include "importance/report.h"

namespace frostline::importance {

double MeanOf(const WorthDraws& draws, std::size_t point);
double DeviationOf(const WorthDraws& draws, std::size_t point);

// Returns the chance that `point` is worth at least `other`.
double ChanceOf(const WorthDraws& draws, std::size_t point, std::size_t other);

// Goes by draw, in the objective's unit: a loss is above 0; equal worths have
// none.
std::vector<double> LossesOf(const StudyBelief& belief, const WorthDraws& draws,
                             std::size_t from, std::size_t to);
double ShareWithin(const std::vector<double>& losses, double tolerance);
// Returns the chance that at most `tolerance` of the score is lost.
double ChanceOfLoss(const StudyBelief& belief, const WorthDraws& draws,
                    std::size_t from, std::size_t to, double tolerance);

// Lies around the median. REQUIRES: there is a draw.
Interval QuantilesOf(std::vector<double> draws);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_WORTH_DRAWS_H_
