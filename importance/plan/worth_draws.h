// SPDX-License-Identifier: Apache-2.0
//
// File: worth_draws.h
//
// What joint draws of worths say of points: averages, chances, and intervals of
// scores and of what is lost from one point to another.
#ifndef FROSTLINE_IMPORTANCE_PLAN_WORTH_DRAWS_H_
#define FROSTLINE_IMPORTANCE_PLAN_WORTH_DRAWS_H_

#include <cstddef>
#include <vector>

#include "importance/plan/study_belief.h"
#include "importance/report/report.h"

namespace frostline::importance {

double MeanOf(const WorthDraws& draws, std::size_t point);
double DeviationOf(const WorthDraws& draws, std::size_t point);

// That `point` is worth at least as much as `other`.
double ChanceOf(const WorthDraws& draws, std::size_t point, std::size_t other);

// Of the score, in the objective's unit and direction, from `from` to `to`:
// above 0 is a loss, and equal worths are none. By draw.
std::vector<double> LossesOf(const StudyBelief& belief, const WorthDraws& draws,
                             std::size_t from, std::size_t to);
// How many of the losses are at most `tolerance`, as a share.
double ShareWithin(const std::vector<double>& losses, double tolerance);
// That from `from` to `to` at most `tolerance` of the score is lost.
double ChanceOfLoss(const StudyBelief& belief, const WorthDraws& draws,
                    std::size_t from, std::size_t to, double tolerance);

// Median and quantiles. REQUIRES: not empty.
Interval QuantilesOf(std::vector<double> draws);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_WORTH_DRAWS_H_
