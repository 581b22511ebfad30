// SPDX-License-Identifier: Apache-2.0
//
// File: compose.h
//
// Which plan was run. A verification is of the plan as it was before its trials
// ran; they, and those that came after, may have changed it.
#ifndef FROSTLINE_CLI_REPORT_COMPOSE_H_
#define FROSTLINE_CLI_REPORT_COMPOSE_H_

#include <string>

#include "cli/report/report_page.h"
#include "cli/report/study_record.h"

namespace frostline::cli {

// "the plan as it was, the point of trial 14", or where no trial had tried it
// before "…, run as trials 40, 43, 46". "" where it is the record's plan, where
// none was run, and where that cannot be told.
std::string EarlierPlanWords(const StudyRecord& record);

// Says of a study what it comes to: the verdict first, then what the verdict
// stands on. It says nothing of now: the same record is the same page.
ReportPage ComposeReport(const StudyRecord& record);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_REPORT_COMPOSE_H_
