// SPDX-License-Identifier: Apache-2.0
//
// File: plan_sentences.h
//
// A plan in words: why each module is frozen or trained, and what to doubt.
#ifndef FROSTLINE_IMPORTANCE_PLAN_PLAN_SENTENCES_H_
#define FROSTLINE_IMPORTANCE_PLAN_PLAN_SENTENCES_H_

#include <string>
#include <vector>

#include "importance/fitted_levels.h"
#include "importance/plan/study_plan.h"
#include "study/space.h"

namespace frostline {

// Below this share of the variance, predicted of trials not seen, a plan is to
// be verified first.
inline constexpr double kSolidR2 = 0.3;

// `planned.rate`, `freeze` and `cost_of_freezing` are known.
std::string ReasonFor(const ModuleBinding& binding,
                      const PlannedModule& planned, const std::string& metric);

// For a plan that copies the best trial, since the model explains nothing.
std::string ReasonToCopy(std::int64_t trial);

// Those of the trials, and NOTHING_EXPLAINED, LITTLE_EXPLAINED, and
// PLAN_NOT_BETTER than the best trial, where they apply. `r2` may be NaN.
std::vector<ReportWarning> PlanWarnings(const FittedLevels& fitted,
                                        const StudyPlan& plan, double r2,
                                        bool copies);

}  // namespace frostline

#endif  // FROSTLINE_IMPORTANCE_PLAN_PLAN_SENTENCES_H_
