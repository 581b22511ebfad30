// SPDX-License-Identifier: Apache-2.0
//
// File: compose.h
//
// Composes the report of a study, and finds out which plan was run. A
// verification tests the plan as it was before its trials ran; those and later
// trials may have changed the plan since.
#ifndef FROSTLINE_CLI_REPORT_COMPOSE_H_
#define FROSTLINE_CLI_REPORT_COMPOSE_H_

#include <string>

#include "cli/report/report_page.h"
#include "cli/report/study_record.h"

namespace frostline::cli {

// Returns "the plan as it was, the point of trial 14", with ", run as trials
// 40, 43, 46" if no trial had that point before. Returns "" when the record's
// plan was run, when none was run, and when it cannot be told.
std::string EarlierPlanWords(const StudyRecord& record);

// Composes the report: first the verdict, then the evidence. The page does not
// depend on the current time: the same record gives the same page.
ReportPage ComposeReport(const StudyRecord& record);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_REPORT_COMPOSE_H_
