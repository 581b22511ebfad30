// SPDX-License-Identifier: Apache-2.0
//
// File: report_page.h
//
// A report as sections of text, tables and pictures, and its output formats.
// Text may come from anybody, so it is escaped for each format.
#ifndef FROSTLINE_CLI_REPORT_REPORT_PAGE_H_
#define FROSTLINE_CLI_REPORT_REPORT_PAGE_H_

#include <string>
#include <vector>

#include "cli/report/study_record.h"

namespace frostline::cli {

struct ReportTable {
  std::string name;  // the file's name without .csv
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  std::string csv;  // with full precision
};

struct ReportFigure {
  std::string name;  // the file's name without .svg
  std::string caption;
  std::string svg;
};

inline constexpr int kVerbatimWidth = 100;

struct ReportSection {
  std::string heading = {};
  std::vector<std::string> paragraphs = {};
  std::vector<ReportFigure> figures = {};
  std::vector<ReportTable> tables = {};
  std::string verbatim = {};  // terminal lines of kVerbatimWidth
};

struct ReportPage {
  std::string title;
  std::vector<std::string> lines;  // below the title
  std::vector<ReportSection> sections;
};

// Returns the page as one HTML file without scripts that needs no other file.
std::string ToHtml(const ReportPage& page);

// Returns the page as Markdown. `figures` is the path from the page to the
// folder of the pictures. If it is empty, the pictures are left out.
std::string ToMarkdown(const ReportPage& page, const std::string& figures);

// Composes the report of a study, and finds out which plan was run. A
// verification tests the plan as it was before its trials ran; those and later
// trials may have changed the plan since.

// Returns "the plan as it was, the point of trial 14", with ", run as trials
// 40, 43, 46" if no trial had that point before. Returns "" when the record's
// plan was run, when none was run, and when it cannot be told.
std::string EarlierPlanWords(const StudyRecord& record);

// Composes the report: first the verdict, then the evidence. The page does not
// depend on the current time: the same record gives the same page.
ReportPage ComposeReport(const StudyRecord& record);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_REPORT_REPORT_PAGE_H_
