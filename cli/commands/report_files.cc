// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <iostream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "cli/commands/report.h"
#include "cli/term/text_file.h"

namespace frostline::cli {
namespace {

absl::Status WriteParts(const ReportPage& page, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat(folder, " cannot be written"),
                     "name a file in a folder of yours");
  }
  for (const ReportSection& section : page.sections) {
    for (const ReportFigure& figure : section.figures) {
      RETURN_IF_ERROR(WriteTextFile(
          absl::StrCat(folder, "/", figure.name, ".svg"), figure.svg));
    }
    for (const ReportTable& table : section.tables) {
      RETURN_IF_ERROR(WriteTextFile(
          absl::StrCat(folder, "/", table.name, ".csv"), table.csv));
    }
  }
  return absl::OkStatus();
}

std::string FiguresOf(const std::string& output, const std::string& named) {
  if (!named.empty() || !absl::EndsWith(output, ".md")) return named;
  return absl::StrCat(output.substr(0, output.size() - 3), "-figures");
}

// The folder as the page's file sees it.
std::string SeenFrom(const std::string& output, const std::string& folder) {
  std::error_code error;
  const auto file = std::filesystem::absolute(output, error);
  const auto full = std::filesystem::absolute(folder, error);
  // Without a working folder the two are seen from the same place.
  if (error) {
    return std::filesystem::path(folder)
        .lexically_proximate(std::filesystem::path(output).parent_path())
        .string();
  }
  return full.lexically_proximate(file.parent_path()).string();
}

}  // namespace

absl::Status CheckReportFile(const std::string& output) {
  for (const char* const form : {".html", ".md", ".json"}) {
    if (output.empty() || absl::EndsWith(output, form)) return absl::OkStatus();
  }
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat(output, " tells no form"),
                   "end its name in .html, .md or .json", "--output");
}

absl::Status WriteReport(const ReportPage& page, const std::string& output,
                         const std::string& figures) {
  const std::string folder = FiguresOf(output, figures);
  if (!folder.empty()) RETURN_IF_ERROR(WriteParts(page, folder));
  if (output.empty()) {
    std::cout << ToMarkdown(page, folder);
    return absl::OkStatus();
  }
  if (absl::EndsWith(output, ".html")) {
    return WriteTextFile(output, ToHtml(page));
  }
  return WriteTextFile(output, ToMarkdown(page, SeenFrom(output, folder)));
}

}  // namespace frostline::cli
