// SPDX-License-Identifier: Apache-2.0
//
// File: report_page.h
//
// A report as sections of words, tables and pictures, and the forms in which it
// is written. Text may be anybody's: it is escaped for each form.
#ifndef FROSTLINE_CLI_REPORT_REPORT_PAGE_H_
#define FROSTLINE_CLI_REPORT_REPORT_PAGE_H_

#include <string>
#include <vector>

namespace frostline::cli {

struct ReportTable {
  std::string name;  // of its file, without .csv
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  std::string csv;  // with the numbers in full
};

struct ReportFigure {
  std::string name;  // of its file, without .svg
  std::string caption;
  std::string svg;
};

inline constexpr int kVerbatimWidth = 100;

struct ReportSection {
  std::string heading = {};
  std::vector<std::string> paragraphs = {};
  std::vector<ReportFigure> figures = {};
  std::vector<ReportTable> tables = {};
  std::string verbatim = {};  // lines of a terminal, of kVerbatimWidth
};

struct ReportPage {
  std::string title;
  std::vector<std::string> lines;  // below it
  std::vector<ReportSection> sections;
};

// One file that needs no other, without scripts.
std::string ToHtml(const ReportPage& page);

// Pictures are files of the folder `figures`, as seen from the page; without
// one they are left out.
std::string ToMarkdown(const ReportPage& page, const std::string& figures);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_REPORT_REPORT_PAGE_H_
