// SPDX-License-Identifier: Apache-2.0
//
// File: record_tables.h
//
// Tables of a report: rounded as people read them, and in full as CSV.
#ifndef FROSTLINE_CLI_REPORT_RECORD_TABLES_H_
#define FROSTLINE_CLI_REPORT_RECORD_TABLES_H_

#include "cli/report/report_page.h"
#include "cli/report/study_record.h"

namespace frostline::cli {

ReportTable PlanTable(const v1::FreezePlan& plan);
ReportTable ImportanceTable(const v1::ImportanceReport& report);
ReportTable FrontierTable(const v1::Frontier& frontier);
// All trials, by number, with the rate of every module.
ReportTable TrialsTable(const StudyRecord& record);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_REPORT_RECORD_TABLES_H_
