// SPDX-License-Identifier: Apache-2.0
//
// File: plan_request.h
#ifndef FROSTLINE_IMPORTANCE_PLAN_PLAN_REQUEST_H_
#define FROSTLINE_IMPORTANCE_PLAN_PLAN_REQUEST_H_

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "importance/plan/study_plan.h"
#include "study/space.h"

namespace frostline::importance {

// Answers REQUEST_INVALID for a tolerance below 0 or not finite, evaluation
// rows below 0, and a space where no module takes its rate from a parameter.
absl::Status CheckPlanRequest(const Space& space, const PlanOptions& options);

// Returns places in Space::modules(): embeddings first, head last, then others.
std::vector<std::size_t> ModulesInDepthOrder(const Space& space);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_PLAN_REQUEST_H_
