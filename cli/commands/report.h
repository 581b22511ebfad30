// SPDX-License-Identifier: Apache-2.0
//
// File: report.h
//
// A report as files: the page, and beside one in Markdown, which cannot hold
// pictures itself, a folder of them.
#ifndef FROSTLINE_CLI_COMMANDS_REPORT_H_
#define FROSTLINE_CLI_COMMANDS_REPORT_H_

#include <string>

#include "absl/status/status.h"
#include "cli/report/report_page.h"

namespace frostline::cli {

// Refuses a name that tells no form; an empty one is standard output.
absl::Status CheckReportFile(const std::string& output);

// Writes HTML or Markdown by the name's end, and into `figures`, where it is
// not empty, each picture as SVG and each table as CSV.
absl::Status WriteReport(const ReportPage& page, const std::string& output,
                         const std::string& figures);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_REPORT_H_
