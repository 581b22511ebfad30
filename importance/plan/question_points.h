// SPDX-License-Identifier: Apache-2.0
//
// File: question_points.h
#ifndef FROSTLINE_IMPORTANCE_PLAN_QUESTION_POINTS_H_
#define FROSTLINE_IMPORTANCE_PLAN_QUESTION_POINTS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "importance/plan/plan_search.h"

namespace frostline::importance {

// How much more is `better` worth than `worse`?
struct OpenQuestion {
  std::size_t better = 0;  // places among the points
  std::size_t worse = 0;
  std::string reason;  // "tells whether layer.2 is worth training"
};

struct QuestionPoints {
  std::vector<PlanChoice> points;  // each once
  std::vector<OpenQuestion> questions;
  // These are places of open trials, with repeats: they are not to be asked.
  std::vector<std::size_t> told;
};

// Asks what freezing each module costs, and the plan's gain over its strongest
// rival; points answer there, near plan and best trial, and all over the space.
// Of very many `open` trials it takes the first.
QuestionPoints FindQuestions(const PlanSearch& search, const PlanChoice& plan,
                             const std::vector<const Point*>& open);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_QUESTION_POINTS_H_
