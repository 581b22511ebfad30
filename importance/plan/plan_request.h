// SPDX-License-Identifier: Apache-2.0
//
// File: plan_request.h
//
// What everything that is asked of plans begins with.
#ifndef FROSTLINE_IMPORTANCE_PLAN_PLAN_REQUEST_H_
#define FROSTLINE_IMPORTANCE_PLAN_PLAN_REQUEST_H_

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "importance/plan/study_plan.h"
#include "study/space.h"

namespace frostline::importance {

// REQUEST_INVALID for a tolerance below 0 or not finite, evaluation rows below
// 0, and a space no module of which takes its rate from a parameter.
absl::Status CheckPlanRequest(const Space& space, const PlanOptions& options);

// Places in Space::modules(), embeddings first and head last; modules of other
// names stay where the space has them, at the end.
std::vector<std::size_t> ModulesInDepthOrder(const Space& space);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_PLAN_REQUEST_H_
