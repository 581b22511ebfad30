// SPDX-License-Identifier: Apache-2.0
//
// File: plan_basis.h
//
// Fitting is most of the work, so all plans stand on one belief. Any thread may
// ask it. It keeps references to space and objectives, and points into the
// history.
#ifndef FROSTLINE_IMPORTANCE_PLAN_PLAN_BASIS_H_
#define FROSTLINE_IMPORTANCE_PLAN_PLAN_BASIS_H_

#include <memory>
#include <stop_token>
#include <vector>

#include "absl/status/statusor.h"
#include "importance/plan/plan_search.h"
#include "importance/plan/prediction.h"
#include "importance/plan/study_belief.h"
#include "importance/plan/study_plan.h"

namespace frostline::importance {

class PlanBasis {
 public:
  // After a stop nobody may believe it.
  PlanBasis(StudyBelief belief, const std::stop_token& stop);
  PlanBasis(const PlanBasis&) = delete;
  PlanBasis& operator=(const PlanBasis&) = delete;

  const StudyBelief& belief() const { return belief_; }
  const PlanSearch& search() const { return search_; }
  const PlanChoices& choices() const { return search_.choices(); }
  // Comes from the belief's surrogate.
  const std::vector<surrogate::Belief>& left_out() const { return left_out_; }
  const Optimism& optimism() const { return optimism_; }

 private:
  const StudyBelief belief_;
  const PlanSearch search_;
  const std::vector<surrogate::Belief> left_out_;
  const Optimism optimism_;
};

// Fits by options.evaluate, and checks all; errors are MakePlan's. Here and
// there a stop (options.evaluate.stop) makes it CANCELLED.
absl::StatusOr<std::unique_ptr<const PlanBasis>> MakePlanBasis(
    const Space& space, const std::vector<Objective>& objectives,
    const History& history, const PlanOptions& options);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_PLAN_BASIS_H_
