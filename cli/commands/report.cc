// SPDX-License-Identifier: Apache-2.0
//
// `frostline report`: what a study, or a recipe's run, comes to, in one file.
#include "cli/commands/report.h"

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "cli/commands/command.h"
#include "cli/recipe/recipe_file.h"
#include "cli/recipe/recipe_page.h"
#include "cli/recipe/recipe_record.h"
#include "cli/recipe/recipe_stage.h"
#include "cli/report/report_page.h"
#include "cli/report/study_record.h"
#include "cli/term/terminal.h"
#include "cli/term/text_file.h"
#include "cli/view/format.h"

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

// Returns the path from the page's file to the folder.
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

namespace {

constexpr std::size_t kMostRecord = std::size_t{512} << 20;

struct ReportArgs {
  std::string study;  // or a recipe's run, or a record's file
  std::string recipe;
  std::string output;
  std::string figures;
  double tolerance = 0.0;
};

// Returns the record of a recipe's run, when no study has this name.
absl::StatusOr<std::string> RunText(Client& client, const std::string& run,
                                    const ReportArgs& args) {
  ASSIGN_OR_RETURN(const std::vector<v1::Study> studies,
                   FindRunStudies(client, run));
  const auto& labels = studies[0].settings().labels();
  const auto name = labels.find(kRecipeLabel);
  const std::string known = !args.recipe.empty()   ? args.recipe
                            : name == labels.end() ? ""
                                                   : name->second;
  const absl::StatusOr<Recipe> recipe = OpenRecipe(known);
  // A recipe of somebody's own is known by its file alone.
  if (!recipe.ok() && !args.recipe.empty()) return recipe.status();
  ASSIGN_OR_RETURN(
      const RecipeRecord record,
      FetchRun(client, run, recipe.ok() ? &*recipe : nullptr, args.tolerance));
  return ToText(record);
}

// Returns the text of a saved record, or of a new one.
absl::StatusOr<std::string> RecordText(Session& session,
                                       const ReportArgs& args) {
  if (absl::EndsWith(args.study, ".json")) {
    ASSIGN_OR_RETURN(std::string text, ReadTextFile(args.study, kMostRecord));
    return text;
  }
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(args.study));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  const auto study = FetchStudy(*client, name);
  if (HasErrorId(study.status(), ErrorId::kStudyNotFound)) {
    return RunText(*client, LastPart(name), args);
  }
  RETURN_IF_ERROR(study.status());
  ASSIGN_OR_RETURN(const StudyRecord record,
                   FetchRecord(*client, name, args.tolerance));
  return ToText(record);
}

absl::StatusOr<ReportPage> ReportPageOf(const std::string& text) {
  if (IsRecipeRecord(text)) {
    ASSIGN_OR_RETURN(const RecipeRecord record, ReadRecipeRecord(text));
    return ComposeRecipeReport(record);
  }
  ASSIGN_OR_RETURN(const StudyRecord record, ReadRecord(text));
  return ComposeReport(record);
}

absl::StatusOr<ExitCode> Report(Session& session, const ReportArgs& args) {
  RETURN_IF_ERROR(CheckReportFile(args.output));
  absl::StatusOr<std::string> record;
  {
    const BusyLine busy(session.terminal, "report");
    record = RecordText(session, args);
  }
  ASSIGN_OR_RETURN(const std::string text, std::move(record));
  if (absl::EndsWith(args.output, ".json")) {
    RETURN_IF_ERROR(WriteTextFile(args.output, text));
    return kExitOk;
  }
  ASSIGN_OR_RETURN(const ReportPage page, ReportPageOf(text));
  RETURN_IF_ERROR(WriteReport(page, args.output, args.figures));
  if (!args.output.empty()) std::cerr << "report: " << args.output << "\n";
  return kExitOk;
}

}  // namespace

void AddReportCommand(CLI::App& app, Invocation& invocation) {
  const auto [verb, args] = AddVerb(
      app, "report", "What a study comes to, in one file: the verdict first",
      invocation, Report);
  verb->add_option("STUDY", args->study,
                   "The study, the run of a recipe, or FILE.json that was "
                   "kept of one")
      ->required();
  verb->add_option("-o,--output", args->output,
                   "FILE.html, FILE.md, or FILE.json to keep; else Markdown "
                   "on standard output")
      ->type_name("FILE");
  verb->add_option("--figures", args->figures,
                   "Write each picture as SVG and each table as CSV there")
      ->type_name("DIR");
  verb->add_option("--recipe", args->recipe,
                   "Of a recipe's run: the recipe's file, where it is one of "
                   "yours")
      ->type_name("FILE");
  verb->add_option("--tolerance", args->tolerance,
                   "How much of the score a plan may give up")
      ->check(AtLeastZero());
}

}  // namespace frostline::cli
