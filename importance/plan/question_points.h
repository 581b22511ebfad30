// SPDX-License-Identifier: Apache-2.0
//
// File: question_points.h
//
// What a plan leaves open, as differences between points, and the points that
// may be run to answer it.
#ifndef FROSTLINE_IMPORTANCE_PLAN_QUESTION_POINTS_H_
#define FROSTLINE_IMPORTANCE_PLAN_QUESTION_POINTS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "importance/plan/plan_search.h"

namespace frostline::importance {

// By how much more `better` is worth than `worse`.
struct OpenQuestion {
  std::size_t better = 0;  // places among the points
  std::size_t worse = 0;
  std::string reason;  // "tells whether layer.2 is worth training"
};

struct QuestionPoints {
  std::vector<PlanChoice> points;  // each once
  std::vector<OpenQuestion> questions;
  // Places of trials that are queued or running, as often as each is: they are
  // going to be told, and need not be asked.
  std::vector<std::size_t> told;
};

// What freezing each module costs, and what the plan gains over its strongest
// rival; answered by those very points, by neighbours of the plan and of the
// best trial, and by points of the whole space. `open` are the points of trials
// that have not ended; of very many the first ones.
QuestionPoints FindQuestions(const PlanSearch& search, const PlanChoice& plan,
                             const std::vector<const Point*>& open);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_QUESTION_POINTS_H_
