// SPDX-License-Identifier: Apache-2.0
//
// `frostline report`: what a study comes to, in one file.
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/status_macros.h"
#include "cli/commands/command.h"
#include "cli/report/compose.h"
#include "cli/report/record_fetch.h"
#include "cli/report/report_page.h"
#include "cli/term/text_file.h"

namespace frostline::cli {
namespace {

constexpr std::size_t kMostRecord = std::size_t{512} << 20;

struct ReportArgs {
  std::string study;  // or a record's file
  std::string output;
  std::string figures;
  double tolerance = 0.0;
};

// A record that was kept, or a new one, as its text.
absl::StatusOr<std::string> RecordText(Session& session,
                                       const ReportArgs& args) {
  if (absl::EndsWith(args.study, ".json")) {
    ASSIGN_OR_RETURN(std::string text, ReadTextFile(args.study, kMostRecord));
    return text;
  }
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(args.study));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const StudyRecord record,
                   FetchRecord(*client, name, args.tolerance));
  return ToText(record);
}

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

// Beside a page in Markdown, which cannot hold pictures itself.
std::string FiguresOf(const ReportArgs& args) {
  if (!args.figures.empty() || !absl::EndsWith(args.output, ".md")) {
    return args.figures;
  }
  return absl::StrCat(args.output.substr(0, args.output.size() - 3),
                      "-figures");
}

// The folder as the page's file sees it.
std::string SeenFrom(const std::string& output, const std::string& folder) {
  const std::filesystem::path place =
      std::filesystem::absolute(output).parent_path();
  return std::filesystem::absolute(folder).lexically_proximate(place).string();
}

absl::Status CheckOutput(const std::string& output) {
  for (const char* const form : {".html", ".md", ".json"}) {
    if (output.empty() || absl::EndsWith(output, form)) return absl::OkStatus();
  }
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat(output, " tells no form"),
                   "end its name in .html, .md or .json", "--output");
}

absl::StatusOr<ExitCode> Report(Session& session, const ReportArgs& args) {
  RETURN_IF_ERROR(CheckOutput(args.output));
  ASSIGN_OR_RETURN(const std::string text, RecordText(session, args));
  if (absl::EndsWith(args.output, ".json")) {
    RETURN_IF_ERROR(WriteTextFile(args.output, text));
    return kExitOk;
  }
  ASSIGN_OR_RETURN(const StudyRecord record, ReadRecord(text));
  const ReportPage page = ComposeReport(record);
  const std::string figures = FiguresOf(args);
  if (!figures.empty()) RETURN_IF_ERROR(WriteParts(page, figures));
  if (args.output.empty()) {
    std::cout << ToMarkdown(page, figures);
  } else if (absl::EndsWith(args.output, ".html")) {
    RETURN_IF_ERROR(WriteTextFile(args.output, ToHtml(page)));
  } else {
    RETURN_IF_ERROR(WriteTextFile(
        args.output, ToMarkdown(page, SeenFrom(args.output, figures))));
  }
  return kExitOk;
}

}  // namespace

void AddReportCommand(CLI::App& app, Invocation& invocation) {
  const auto args = std::make_shared<ReportArgs>();
  CLI::App* const verb = AddVerb(
      app, "report", "What a study comes to, in one file: the verdict first",
      invocation, [args](Session& session) { return Report(session, *args); });
  verb->add_option("STUDY", args->study,
                   "The study, or FILE.json that was kept of one")
      ->required();
  verb->add_option("-o,--output", args->output,
                   "FILE.html, FILE.md, or FILE.json to keep; else Markdown "
                   "on standard output")
      ->type_name("FILE");
  verb->add_option("--figures", args->figures,
                   "Write each picture as SVG and each table as CSV there")
      ->type_name("DIR");
  verb->add_option("--tolerance", args->tolerance,
                   "How much of the score a plan may give up")
      ->check(AtLeastZero());
}

}  // namespace frostline::cli
