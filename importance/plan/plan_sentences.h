// SPDX-License-Identifier: Apache-2.0
//
// File: plan_sentences.h
//
// A plan in words: why each module is frozen or trained, what can be said of
// the whole, and what to doubt.
#ifndef FROSTLINE_IMPORTANCE_PLAN_PLAN_SENTENCES_H_
#define FROSTLINE_IMPORTANCE_PLAN_PLAN_SENTENCES_H_

#include <string>
#include <vector>

#include "importance/plan/plan_basis.h"
#include "importance/plan/study_belief.h"
#include "importance/plan/study_plan.h"
#include "study/space.h"

namespace frostline::importance {

// Below this share of the variance, predicted of trials not seen, a plan is to
// be verified first.
inline constexpr double kSolidR2 = 0.3;

// Two digits of the error, and as many places of the number.
struct RoundedPair {
  std::string value;
  std::string error;
};
RoundedPair RoundTogether(double value, double error);
// "0.918 (0.897 to 0.931)": 80 of 100 times it is in there.
std::string SayInterval(const Interval& interval);
// "layer.0, layer.1 and 3 more".
std::string SayModules(const std::vector<std::string>& modules);

// Of a module of which all else is known.
std::string ReasonFor(const ModuleBinding& binding,
                      const PlannedModule& planned, const std::string& metric,
                      double tolerance);

// One sentence; `copies`: the plan is the best trial.
std::string PlanVerdict(const StudyBelief& belief, const StudyPlan& plan,
                        bool copies);

// Those of the trials, and NOTHING_EXPLAINED, LITTLE_EXPLAINED, and
// PLAN_NOT_BETTER than the best trial, where they apply.
std::vector<ReportWarning> PlanWarnings(const PlanBasis& basis,
                                        const StudyPlan& plan, bool copies);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_PLAN_SENTENCES_H_
