// SPDX-License-Identifier: Apache-2.0
//
// File: compose.h
#ifndef FROSTLINE_CLI_REPORT_COMPOSE_H_
#define FROSTLINE_CLI_REPORT_COMPOSE_H_

#include "cli/report/report_page.h"
#include "cli/report/study_record.h"

namespace frostline::cli {

// Says of a study what it comes to: the verdict first, then what the verdict
// stands on. It says nothing of now: the same record is the same page.
ReportPage ComposeReport(const StudyRecord& record);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_REPORT_COMPOSE_H_
