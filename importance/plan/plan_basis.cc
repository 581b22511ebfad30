// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/plan_basis.h"

#include <utility>

#include "base/status_macros.h"
#include "importance/plan/plan_request.h"

namespace frostline::importance {

PlanBasis::PlanBasis(StudyBelief belief, const std::stop_token& stop)
    : belief_(std::move(belief)),
      search_(belief_),
      left_out_(belief_.surrogate().LeftOut(stop)),
      optimism_(FindOptimism(belief_, left_out_)) {}

absl::StatusOr<std::unique_ptr<const PlanBasis>> MakePlanBasis(
    const Space& space, const std::vector<Objective>& objectives,
    const History& history, const PlanOptions& options) {
  RETURN_IF_ERROR(CheckPlanRequest(space, options));
  ASSIGN_OR_RETURN(StudyBelief belief,
                   Believe(space, objectives, history, options.evaluate));
  auto basis = std::make_unique<const PlanBasis>(std::move(belief),
                                                 options.evaluate.stop);
  RETURN_IF_ERROR(CheckStop(options.evaluate.stop));
  return basis;
}

}  // namespace frostline::importance
