// SPDX-License-Identifier: Apache-2.0
//
// File: plan_runs.h
//
// Which plan was run. A verification is of the plan as it was before its trials
// ran; they, and those that came after, may have changed it.
#ifndef FROSTLINE_CLI_REPORT_PLAN_RUNS_H_
#define FROSTLINE_CLI_REPORT_PLAN_RUNS_H_

#include <string>

#include "cli/report/study_record.h"

namespace frostline::cli {

// "the plan as it was, the point of trial 14", or where no trial had tried it
// before "…, run as trials 40, 43, 46". "" where it is the record's plan, where
// none was run, and where that cannot be told.
std::string EarlierPlanWords(const StudyRecord& record);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_REPORT_PLAN_RUNS_H_
