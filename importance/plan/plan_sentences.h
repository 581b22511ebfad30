// SPDX-License-Identifier: Apache-2.0
//
// File: plan_sentences.h
#ifndef FROSTLINE_IMPORTANCE_PLAN_PLAN_SENTENCES_H_
#define FROSTLINE_IMPORTANCE_PLAN_PLAN_SENTENCES_H_

#include <string>
#include <vector>

#include "importance/plan/study_belief.h"
#include "importance/plan/study_plan.h"
#include "study/space.h"

namespace frostline::importance {

// Below this share of variance predicted of unseen trials, verify a plan first.
inline constexpr double kSolidR2 = 0.3;

// An error rounded to two digits, and its value to as many places.
struct RoundedPair {
  std::string value;
  std::string error;
};
RoundedPair RoundTogether(double value, double error);
// Says "0.918 (0.897 to 0.931)": the interval of 80 %.
std::string SayInterval(const Interval& interval);
// Says "0.96", rounded as a percentage is, so that 0.955 is 96 % beside it, and
// never that something is sure.
std::string SayChance(double probability);
// Says "layer.0, layer.1 and 3 more".
std::string SayModules(const std::vector<std::string>& modules);

// `planned` lacks only its reason.
std::string ReasonFor(const ModuleBinding& binding,
                      const PlannedModule& planned, const std::string& metric,
                      double tolerance);

// `copies` says that the plan is the best trial.
std::string PlanVerdict(const StudyBelief& belief, const StudyPlan& plan,
                        bool copies);

// Repeats those of the trials, then NOTHING_EXPLAINED, LITTLE_EXPLAINED,
// PLAN_NOT_BETTER (than the best trial).
std::vector<ReportWarning> PlanWarnings(const PlanBasis& basis,
                                        const StudyPlan& plan, bool copies);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_PLAN_SENTENCES_H_
