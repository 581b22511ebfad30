// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/recipe_run.h"

#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "cli/commands/registry.h"
#include "cli/commands/report.h"
#include "cli/process/work_folder.h"
#include "cli/recipe/recipe_page.h"
#include "cli/recipe/recipe_record.h"
#include "cli/recipe/recipe_view.h"
#include "cli/recipe/sample_registry.h"
#include "cli/term/text_file.h"

namespace frostline::cli {
namespace {

struct RunArgs {
  RecipeArgs recipe;
  std::string folder;  // of a coordinator of its own
  int workers = 1;
  std::string output;
};

// Without a working folder it stays as it is.
std::string FromAnywhere(const std::string& folder) {
  std::error_code ignored;
  const auto full = std::filesystem::absolute(folder, ignored);
  return ignored ? folder : full.string();
}

// Samples are written into the run's own folder.
absl::StatusOr<std::string> RegistryFolder(const std::string& named,
                                           const WorkFolder& own,
                                           bool of_samples) {
  if (of_samples) {
    std::string folder = FromAnywhere(own.path() + "/registry");
    RETURN_IF_ERROR(MakeSampleRegistry(folder));
    return folder;
  }
  ASSIGN_OR_RETURN(const auto registry, FindRegistry(named));
  if (registry.has_value()) return FromAnywhere(registry->folder);
  return MakeError(
      ErrorId::kRequestInvalid,
      "workers on this machine need a registry, and none is here",
      "name it with --registry DIR; `frostline registry add model DIR` "
      "makes one",
      "--registry");
}

// Beside the database unless somebody named a place; "" writes none.
std::string OutputOf(const RunArgs& args) {
  if (!args.output.empty() || args.folder.empty()) return args.output;
  return args.folder + "/report.html";
}

// What is not there, and how to have it.
std::string DescribeLack(const OpenedRecipe& opened,
                         const SurveyedWish& found) {
  std::string text =
      absl::StrCat("recipe ", opened.recipe.name, " cannot run at scale ",
                   opened.wish.scale, "; not in ", found.stock.where, ":\n",
                   DescribeMissing(opened.recipe, found.survey.missing));
  for (const SurveyedStudy& skipped : found.survey.skipped) {
    absl::StrAppend(&text, DescribeMissing(opened.recipe, skipped.missing));
  }
  if (opened.wish.scale == kSampleScale) {
    absl::StrAppend(&text,
                    "with --local DIR and without --registry nothing "
                    "need be registered: the program carries it\n");
  }
  return text;
}

absl::Status WriteRunReport(Client& client, const OpenedRecipe& opened,
                            const std::string& output) {
  const std::string run = RunIdOf(opened.recipe, opened.wish);
  if (output.empty()) {
    std::cerr << "\nnext: frostline report " << run << " -o " << run
              << ".html\n";
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const RecipeRecord record,
                   FetchRun(client, run, &opened.recipe, /*tolerance=*/0.0));
  const std::string text = ToText(record);
  if (absl::EndsWith(output, ".json")) return WriteTextFile(output, text);
  // Made of the text, so that a text that is kept gives the same page.
  ASSIGN_OR_RETURN(const RecipeRecord read, ReadRecipeRecord(text));
  ASSIGN_OR_RETURN(const ReportPage page, ComposeRecipeReport(read));
  RETURN_IF_ERROR(WriteReport(page, output, ""));
  std::cout << "\nreport: " << output << "\n";
  return absl::OkStatus();
}

absl::StatusOr<ExitCode> RunAt(Client& client, const OpenedRecipe& opened,
                               const SurveyedWish& found, const RunArgs& args,
                               const Terminal& terminal, LocalFleet* fleet,
                               StopSignals& signals) {
  RecipeRunner runner(opened, found.survey, found.stock, client, fleet, signals,
                      terminal);
  ASSIGN_OR_RETURN(const ExitCode code, runner.Run());
  if (code != kExitOk) return code;
  RETURN_IF_ERROR(WriteRunReport(client, opened, OutputOf(args)));
  return kExitOk;
}

// With a coordinator and workers of its own, which end with it.
absl::StatusOr<ExitCode> RunLocally(const OpenedRecipe& opened,
                                    const SurveyedWish& found,
                                    const RunArgs& args,
                                    const Terminal& terminal,
                                    StopSignals& signals) {
  ASSIGN_OR_RETURN(const WorkFolder folder,
                   WorkFolder::Make(args.folder, /*keep=*/true));
  ASSIGN_OR_RETURN(
      const std::string registry,
      RegistryFolder(args.recipe.registry, folder, found.of_samples));
  ASSIGN_OR_RETURN(const auto trainer, RealTrainer(registry));
  LocalFleet fleet(folder.path());
  RETURN_IF_ERROR(fleet.StartCoordinator(signals));
  RETURN_IF_ERROR(fleet.StartWorkers(args.workers, trainer));
  ASSIGN_OR_RETURN(const auto client, Client::Open(fleet.address()));
  const auto code =
      RunAt(*client, opened, found, args, terminal, &fleet, signals);
  if (signals.caught()) {
    signals.Release();
    std::cerr << "stopping; the same command goes on from here\n";
  }
  fleet.Stop();
  return code;
}

absl::StatusOr<ExitCode> RunRecipe(Session& session, RunArgs args) {
  StopSignals signals;  // before a client has threads
  RETURN_IF_ERROR(CheckReportFile(args.output));
  ASSIGN_OR_RETURN(const OpenedRecipe opened, OpenWished(args.recipe));
  ASSIGN_OR_RETURN(const SurveyedWish found,
                   SurveyWished(session, args.recipe, opened,
                                /*on_this_machine=*/!args.folder.empty()));
  if (!found.can_run()) {
    std::cerr << DescribeLack(opened, found);
    return kExitInvalidFile;
  }
  RETURN_IF_ERROR(CheckSurvey(found.survey, args.recipe.registry));
  if (found.of_samples && args.folder.empty()) {
    args.folder = RunIdOf(opened.recipe, opened.wish);
    std::cerr << "no coordinator answers: it runs on this machine, in "
              << args.folder << "/\n";
  }
  std::cout << RenderRecipe(opened.recipe, found.survey, session.terminal.width)
            << std::flush;
  if (!args.folder.empty()) {
    return RunLocally(opened, found, args, session.terminal, signals);
  }
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  return RunAt(*client, opened, found, args, session.terminal, nullptr,
               signals);
}

}  // namespace

void AddRecipeRun(CLI::App& noun, Invocation& invocation) {
  const auto args = std::make_shared<RunArgs>();
  CLI::App* const verb =
      AddVerb(noun, "run", "Run a recipe's studies; typed again, it goes on",
              invocation,
              [args](Session& session) { return RunRecipe(session, *args); });
  AddRecipeArgs(*verb, args->recipe);
  verb->add_option("--local", args->folder,
                   "With a coordinator and workers on this machine, whose "
                   "files stay there")
      ->type_name("DIR");
  verb->add_option("--workers", args->workers, "How many of them")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  verb->add_option("-o,--output", args->output,
                   "The report: FILE.html, FILE.md or FILE.json "
                   "[DIR/report.html]")
      ->type_name("FILE");
}

}  // namespace frostline::cli
