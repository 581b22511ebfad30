// SPDX-License-Identifier: Apache-2.0
//
// File: report.h
//
// A report as files: the page and, for Markdown, a folder with the pictures.
#ifndef FROSTLINE_CLI_COMMANDS_REPORT_H_
#define FROSTLINE_CLI_COMMANDS_REPORT_H_

#include <string>

#include "absl/status/status.h"
#include "cli/report/report_page.h"

namespace frostline::cli {

// Refuses a file name whose extension names no format. An empty name means
// standard output.
absl::Status CheckReportFile(const std::string& output);

// Writes the page as HTML or Markdown, by the file's extension. If `figures` is
// not empty, it writes each picture as SVG and each table as CSV into that
// folder.
absl::Status WriteReport(const ReportPage& page, const std::string& output,
                         const std::string& figures);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_REPORT_H_
