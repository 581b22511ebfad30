// SPDX-License-Identifier: Apache-2.0
//
// `frostline recipe list | show | check`; `run` is in recipe.cc.
#include "cli/commands/recipe.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/commands/command.h"
#include "cli/commands/registry.h"
#include "cli/commands/report.h"
#include "cli/process/child_process.h"
#include "cli/recipe/entry_table.h"
#include "cli/recipe/recipe_file.h"
#include "cli/recipe/recipe_page.h"
#include "cli/recipe/recipe_record.h"
#include "cli/recipe/recipe_survey.h"
#include "cli/term/text_file.h"
#include "cli/view/format.h"
#include "cli/view/study_view.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

absl::StatusOr<RecipeStock> StockOfFleet(Session& session) {
  RecipeStock stock;
  stock.where = "the coordinator's workers";
  stock.model_facts = [](const std::string&) { return RecipeValues(); };
  ASSIGN_OR_RETURN(Client* const client, OpenClient(session));
  const auto workers = FetchWorkers(*client);
  if (HasErrorId(workers.status(), ErrorId::kCoordinatorAway)) {
    stock.where = absl::StrCat("any registry, or at a coordinator's workers (",
                               client->address(), " does not answer)");
    stock.of_nobody = true;
    return stock;
  }
  RETURN_IF_ERROR(workers.status());
  for (const v1::Worker& worker : workers->workers()) {
    for (const v1::StockItem& item : worker.stock().models()) {
      stock.models.insert(item.id());
    }
    for (const v1::StockItem& item : worker.stock().data_sets()) {
      stock.data.insert(item.id());
    }
  }
  return stock;
}

absl::StatusOr<RecipeStock> FindStock(Session& session,
                                      const std::string& folder) {
  ASSIGN_OR_RETURN(const auto registry, FindRegistry(folder));
  if (registry.has_value()) return RecipeStockOf(*registry);
  return StockOfFleet(session);
}

absl::StatusOr<RecipeValues> SetValues(const std::vector<std::string>& words) {
  RecipeValues values;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      return MakeError(ErrorId::kRequestInvalid,
                       absl::StrCat("'", word, "' sets nothing"),
                       "write NAME=VALUE, e.g. --set epochs=1", "--set");
    }
    ASSIGN_OR_RETURN(values[word.substr(0, equals)],
                     ParseValue(word.substr(equals + 1), "--set"));
  }
  return values;
}

}  // namespace

namespace {

// Adds what is asked of a recipe besides its name, model and data.
void AddRecipeValues(CLI::App& verb, RecipeArgs& args) {
  verb.add_option("--set", args.set, "Another value of a name in the recipe")
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->take_all();
  verb.add_option("--as", args.id,
                  "What the studies' ids begin with [NAME-SCALE]")
      ->type_name("ID");
  verb.add_option("--registry", args.registry,
                  "Look for models and data there; else $FROSTLINE_REGISTRY, "
                  "./registry, or the coordinator's workers")
      ->type_name("DIR");
}

}  // namespace

void AddRecipeArgs(CLI::App& verb, RecipeArgs& args) {
  verb.add_option("NAME", args.name, "The recipe, or a recipe's file")
      ->required();
  verb.add_option("--scale", args.scale, "How large [the recipe's first]")
      ->type_name("SCALE");
  verb.add_option("--model", args.model,
                  "This registered model in the place of the recipe's")
      ->type_name("ID");
  verb.add_option("--data", args.data,
                  "This registered data set in the place of the recipe's")
      ->type_name("ID");
  AddRecipeValues(verb, args);
}

absl::StatusOr<OpenedRecipe> OpenChosen(const RecipeArgs& args) {
  OpenedRecipe opened;
  ASSIGN_OR_RETURN(opened.recipe, OpenRecipe(args.name));
  const std::string scale =
      args.scale.empty() ? opened.recipe.scales[0].name : args.scale;
  ASSIGN_OR_RETURN(const RecipeScale* const found,
                   FindScale(opened.recipe, scale));
  opened.scale = *found;
  if (!args.id.empty()) RETURN_IF_ERROR(CheckNewName(args.id, "--as"));
  opened.options = {scale, args.id, args.model, args.data, {}};
  ASSIGN_OR_RETURN(opened.options.set, SetValues(args.set));
  return opened;
}

absl::StatusOr<SurveyedChoice> SurveyChosen(Session& session,
                                            const RecipeArgs& args,
                                            const OpenedRecipe& opened,
                                            bool on_this_machine) {
  SurveyedChoice found;
  ASSIGN_OR_RETURN(found.stock, FindStock(session, args.registry));
  ASSIGN_OR_RETURN(found.survey, SurveyRecipe(opened.recipe, opened.scale,
                                              opened.options, found.stock));
  if (found.can_run() || opened.options.scale != kSampleScale ||
      !args.registry.empty()) {
    return found;
  }
  if (!on_this_machine) {
    ASSIGN_OR_RETURN(const RecipeStock fleet, StockOfFleet(session));
    if (!fleet.of_nobody) return found;
  }
  SurveyedChoice samples;
  samples.stock = StockOfSamples();
  samples.of_samples = true;
  ASSIGN_OR_RETURN(samples.survey, SurveyRecipe(opened.recipe, opened.scale,
                                                opened.options, samples.stock));
  return samples.can_run() ? samples : found;
}

namespace {

struct RunArgs {
  RecipeArgs recipe;
  std::string folder;  // of a coordinator of its own
  int workers = 1;
  std::string output;
};

// Makes the path absolute, unless the working folder is unknown.
std::string FromAnywhere(const std::string& folder) {
  std::error_code ignored;
  const auto full = std::filesystem::absolute(folder, ignored);
  return ignored ? folder : full.string();
}

absl::StatusOr<std::string> RegistryFolder(const std::string& named) {
  ASSIGN_OR_RETURN(const auto registry, FindRegistry(named));
  if (registry.has_value()) return FromAnywhere(registry->folder);
  return MakeError(
      ErrorId::kRequestInvalid,
      "workers on this machine need a registry, and none is here",
      "name it with --registry DIR; `frostline registry add model DIR` "
      "makes one",
      "--registry");
}

// Returns the report's path: beside the database unless the user named a place;
// "" writes no report.
std::string OutputOf(const RunArgs& args) {
  if (!args.output.empty() || args.folder.empty()) return args.output;
  return args.folder + "/report.html";
}

// Says what is missing and how to get it.
std::string DescribeLack(const OpenedRecipe& opened,
                         const SurveyedChoice& found) {
  std::string text =
      absl::StrCat("recipe ", opened.recipe.name, " cannot run at scale ",
                   opened.options.scale, "; not in ", found.stock.where, ":\n",
                   DescribeMissing(opened.recipe, found.survey.missing));
  for (const SurveyedStudy& skipped : found.survey.skipped) {
    absl::StrAppend(&text, DescribeMissing(opened.recipe, skipped.missing));
  }
  if (opened.options.scale == kSampleScale) {
    absl::StrAppend(&text,
                    "with --local DIR and without --registry nothing "
                    "need be registered: the program carries it\n");
  }
  return text;
}

// Writes the picture of the entries that were compared beside the report:
// "DIR/report-costs.svg".
absl::Status WriteCostPicture(const RecipeRecord& record,
                              const std::string& output) {
  if (record.across.empty()) return absl::OkStatus();
  const std::string svg = EntryCostsSvg(record, record.across[0]);
  if (svg.empty()) return absl::OkStatus();
  const std::filesystem::path report(output);
  const std::string path =
      (report.parent_path() / (report.stem().string() + "-costs.svg")).string();
  RETURN_IF_ERROR(WriteTextFile(path, svg));
  std::cout << "picture: " << path << "\n";
  return absl::OkStatus();
}

absl::Status WriteRunReport(Client& client, const OpenedRecipe& opened,
                            const std::string& output,
                            const Terminal& terminal) {
  const std::string run = RunIdOf(opened.recipe, opened.options);
  const bool compares_entries = std::ranges::any_of(
      opened.recipe.stages,
      [](const RecipeStage& stage) { return stage.across.has_value(); });
  RecipeRecord record;
  if (!output.empty() || compares_entries) {
    ASSIGN_OR_RETURN(record,
                     FetchRun(client, run, &opened.recipe, /*tolerance=*/0.0));
    std::cout << RenderEntries(record, terminal.width);
  }
  if (output.empty()) {
    std::cerr << "\nnext: frostline report " << run << " -o " << run
              << ".html\n";
    return absl::OkStatus();
  }
  const std::string text = ToText(record);
  if (absl::EndsWith(output, ".json")) return WriteTextFile(output, text);
  // Made of the text, so that a text that is kept gives the same page.
  ASSIGN_OR_RETURN(const RecipeRecord read, ReadRecipeRecord(text));
  ASSIGN_OR_RETURN(const ReportPage page, ComposeRecipeReport(read));
  RETURN_IF_ERROR(WriteReport(page, output, ""));
  std::cout << "\nreport: " << output << "\n";
  return WriteCostPicture(record, output);
}

absl::StatusOr<ExitCode> RunAt(Client& client, const OpenedRecipe& opened,
                               const SurveyedChoice& found, const RunArgs& args,
                               const Terminal& terminal, LocalFleet* fleet,
                               StopSignals& signals) {
  RecipeRunner runner(opened, found.survey, found.stock, client, fleet, signals,
                      terminal);
  ASSIGN_OR_RETURN(const ExitCode code, runner.Run());
  if (code != kExitOk) return code;
  RETURN_IF_ERROR(WriteRunReport(client, opened, OutputOf(args), terminal));
  return kExitOk;
}

// Runs the recipe with its own coordinator and workers, which end with it.
absl::StatusOr<ExitCode> RunLocally(const OpenedRecipe& opened,
                                    const SurveyedChoice& found,
                                    const RunArgs& args,
                                    const Terminal& terminal,
                                    StopSignals& signals) {
  std::string registry = FromAnywhere(args.folder + "/samples");
  if (!found.of_samples) {
    ASSIGN_OR_RETURN(registry, RegistryFolder(args.recipe.registry));
  }
  ASSIGN_OR_RETURN(const WorkFolder folder,
                   WorkFolder::Make(args.folder, /*keep=*/true));
  if (found.of_samples) RETURN_IF_ERROR(MakeSampleRegistry(registry));
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
  ASSIGN_OR_RETURN(const OpenedRecipe opened, OpenChosen(args.recipe));
  ASSIGN_OR_RETURN(const SurveyedChoice found,
                   SurveyChosen(session, args.recipe, opened,
                                /*on_this_machine=*/!args.folder.empty()));
  if (!found.can_run()) {
    std::cerr << DescribeLack(opened, found);
    return kExitInvalidFile;
  }
  RETURN_IF_ERROR(CheckSurvey(found.survey, args.recipe.registry));
  if (found.of_samples && args.folder.empty()) {
    args.folder = RunIdOf(opened.recipe, opened.options);
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

void AddRunOptions(CLI::App& verb, RunArgs& args) {
  verb.add_option("--local", args.folder,
                  "With a coordinator and workers on this machine, whose "
                  "files stay there")
      ->type_name("DIR");
  verb.add_option("--workers", args.workers, "How many of them")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  verb.add_option("-o,--output", args.output,
                  "The report: FILE.html, FILE.md or FILE.json "
                  "[DIR/report.html]")
      ->type_name("FILE");
}

// The recipe that tunes the rules which need no search.
absl::StatusOr<ExitCode> RunBaseline(Session& session, RunArgs args) {
  args.recipe.name = "rivals";
  return RunRecipe(session, std::move(args));
}

}  // namespace

void AddRecipeRun(CLI::App& noun, Invocation& invocation) {
  const auto [verb, args] =
      AddVerb(noun, "run", "Run a recipe's studies; typed again, it goes on",
              invocation, RunRecipe);
  AddRecipeArgs(*verb, args->recipe);
  AddRunOptions(*verb, *args);
}

void AddBaselineCommand(CLI::App& app, Invocation& invocation) {
  const auto [verb, args] = AddVerb(
      app, "baseline",
      "How good rules without a search are on your data: the recipe rivals",
      invocation, RunBaseline);
  RecipeArgs& recipe = args->recipe;
  recipe.scale = "small";
  verb->add_option("DATA", recipe.data, "The registered data set")->required();
  verb->add_option("MODEL", recipe.model, "The registered model")->required();
  verb->add_option("--scale", recipe.scale, "How large")
      ->type_name("SCALE")
      ->capture_default_str();
  AddRecipeValues(*verb, recipe);
  AddRunOptions(*verb, *args);
}

namespace {

struct LookArgs {
  RecipeArgs recipe;
  Output output;
};

absl::StatusOr<ExitCode> ListRecipes(Session& session, const Output& output) {
  std::vector<Recipe> recipes;
  for (const KnownRecipe& known : KnownRecipes()) {
    ASSIGN_OR_RETURN(recipes.emplace_back(), OpenRecipe(known.name));
  }
  return PrintListJson(
      session.terminal, output, RecipesJson(recipes),
      [&recipes](bool) { return RecipeTable(recipes); }, "no recipes");
}

absl::StatusOr<ExitCode> ShowRecipe(Session& session, const LookArgs& args,
                                    bool checks) {
  ASSIGN_OR_RETURN(const OpenedRecipe opened, OpenChosen(args.recipe));
  ASSIGN_OR_RETURN(const SurveyedChoice found,
                   SurveyChosen(session, args.recipe, opened,
                                /*on_this_machine=*/true));
  const RecipeSurvey& survey = found.survey;
  if (checks) {
    RETURN_IF_ERROR(CheckSurvey(survey, args.recipe.registry));
  }
  RETURN_IF_ERROR(
      PrintOneJson(
          session.terminal, args.output, RecipeJson(opened.recipe, survey),
          [&] {
            const std::string text =
                RenderRecipe(opened.recipe, survey, session.terminal.width);
            if (survey.missing.empty()) return text;
            return absl::StrCat(text, "\nnot in ", found.stock.where, ":\n",
                                DescribeMissing(opened.recipe, survey.missing));
          })
          .status());
  if (!checks) return kExitOk;
  if (!found.can_run())
    std::cerr << "it cannot run at scale " << opened.options.scale
              << " as it is\n";
  return found.can_run() ? kExitOk : kExitInvalidFile;
}

void AddLook(CLI::App& noun, Invocation& invocation, const char* name,
             const char* help, bool checks) {
  const auto [verb, args, also_checks] =
      AddVerb(noun, name, help, invocation, ShowRecipe);
  *also_checks = checks;
  AddRecipeArgs(*verb, args->recipe);
  AddOneFormats(verb, args->output);
}

}  // namespace

void AddRecipeCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* const noun =
      AddNoun(app, "recipe", "Published experiments, as one command");
  const auto [list, output] = AddVerb(
      *noun, "list", "The recipes, and what they ask", invocation, ListRecipes);
  AddListFormats(list, *output);
  AddLook(*noun, invocation, "show",
          "What a recipe asks, its stages and what it needs", false);
  AddLook(*noun, invocation, "check",
          "Whether a recipe could run, and what is missing", true);
  AddRecipeRun(*noun, invocation);
}

namespace {

constexpr Duration kRecipePollInterval = std::chrono::milliseconds(250);
constexpr Duration kHintAfter = std::chrono::seconds(20);

// Says in a line that no trial runs, and why; empty where one does. Studies of
// one stage share the workers and may wait for each other.
std::string SayWhatIsAwaited(Client& client, bool has_own_workers,
                             const v1::Study& study) {
  const auto info =
      client.Call(&v1::AdminService::Stub::GetInfo, v1::GetInfoRequest());
  if (!info.ok() || info->open_leases() > 0) return "";
  if (has_own_workers && info->live_workers() == 0) {
    return "the workers are not ready yet: they first check the sums of what "
           "is in the registry";
  }
  return absl::StrCat("nothing runs; `frostline study watch ",
                      LastPart(study.name()), "` says why");
}

}  // namespace

absl::Status CheckSurvey(const RecipeSurvey& survey,
                         const std::string& registry) {
  for (const SurveyedStudy& study : survey.studies) {
    if (!study.missing.empty()) continue;
    RETURN_IF_ERROR(CheckStudyFit(study.study.study, registry));
  }
  return absl::OkStatus();
}

RecipeRunner::RecipeRunner(const OpenedRecipe& opened,
                           const RecipeSurvey& survey, const RecipeStock& stock,
                           Client& client, LocalFleet* fleet,
                           StopSignals& signals, const Terminal& terminal)
    : opened_(opened),
      survey_(survey),
      client_(client),
      fleet_(fleet),
      signals_(signals),
      terminal_(terminal),
      world_{opened.recipe, opened.scale, opened.options,
             [&opened, &stock](const std::string& model) {
               return FactsOf(opened.recipe, stock, model);
             },
             [this](const StageStudy& earlier, const std::string& what) {
               return EarlierValue(earlier, what);
             }} {}

absl::StatusOr<bool> RecipeRunner::IsSlowHere(const StageStudy& study) {
  const std::string& wanted = study.study.spec.training().precision();
  if (wanted.empty() || wanted == "fp32") return false;
  ASSIGN_OR_RETURN(const auto workers, FetchWorkers(client_));
  bool has_any = false;
  for (const v1::Worker& worker : workers.workers()) {
    if (worker.state() != v1::WORKER_STATE_ACTIVE) continue;
    const auto& has = worker.precisions();
    if (has.empty() || std::ranges::count(has, wanted) > 0) return false;
    has_any = true;
  }
  return has_any;
}

bool RecipeRunner::IsSkipped(const StageStudy& study) const {
  if (left_out_.contains(study.study.id) || without_.contains(study.names)) {
    return true;
  }
  return std::any_of(survey_.skipped.begin(), survey_.skipped.end(),
                     [&study](const SurveyedStudy& skipped) {
                       return skipped.study.study.id == study.study.id;
                     });
}

// Returns a result of an earlier stage. A skipped stage has none and gives a
// stand-in, which only other skipped stages use.
absl::StatusOr<YamlPtr> RecipeRunner::EarlierValue(const StageStudy& earlier,
                                                   const std::string& what) {
  if (IsSkipped(earlier)) return StandInFor(earlier, what);
  return FetchEarlierValue(client_, earlier, what);
}

absl::StatusOr<v1::Study> RecipeRunner::Begin(const StageStudy& study) {
  v1::CreateStudyRequest request;
  request.set_study_id(study.study.id);
  *request.mutable_spec() = study.study.spec;
  *request.mutable_settings() = study.study.settings;
  // One that is there goes on, with settings that somebody may have changed.
  const auto there = FetchStudy(client_, StudyNameOf(study.study.id));
  if (there.ok()) *request.mutable_settings() = there->settings();
  const auto reply =
      client_.Call(&v1::StudyService::Stub::CreateStudy, request);
  if (reply.ok()) return reply->study();
  if (HasErrorId(reply.status(), ErrorId::kStudyAlreadyExists)) {
    return MakeError(
        ErrorId::kStudyAlreadyExists,
        absl::StrCat("study ", study.study.id,
                     " is there and is not what the recipe says now"),
        "take the values that it was begun with, or begin another run with "
        "--as ID",
        "--as");
  }
  return PlaceError(reply.status(), study.study);
}

absl::StatusOr<v1::Study> RecipeRunner::Await(v1::Study study) {
  const SystemClock clock;
  StatusLine line(terminal_);
  SteadyTime last_change = clock.Steady();
  std::int64_t revision = -1;
  bool hinted = false;
  while (!IsEnded(study.state())) {
    line.Show(absl::StrCat(LastPart(study.name()), ": ", ProgressText(study)));
    RETURN_IF_ERROR(signals_.Pause(kRecipePollInterval));
    if (fleet_ != nullptr) RETURN_IF_ERROR(fleet_->Check());
    ASSIGN_OR_RETURN(study, FetchStudy(client_, study.name()));
    if (study.revision() != revision || study.counts().running() > 0) {
      revision = study.revision();
      last_change = clock.Steady();
    }
    if (!hinted && clock.Steady() - last_change > kHintAfter) {
      const std::string hint =
          SayWhatIsAwaited(client_, fleet_ != nullptr, study);
      hinted = !hint.empty();
      if (hinted) std::cerr << hint << "\n";
    }
  }
  return study;
}

absl::Status RecipeRunner::Tell(const StageStudy& stage,
                                const v1::Study& study) {
  const std::string id = LastPart(study.name());
  std::cout << "\n" << id << ": " << ProgressText(study);
  if (!stage.about.empty()) std::cout << ": " << stage.about;
  std::cout << "\n" << std::flush;
  ASSIGN_OR_RETURN(const StageRecord record,
                   FetchStage(client_, study, /*tolerance=*/0.0));
  const auto& published = opened_.recipe.published;
  const auto found = published.find(NameOfEntry(stage));
  std::cout << RenderStage(record,
                           found == published.end() ? nullptr : &found->second,
                           terminal_.width)
            << std::flush;
  return absl::OkStatus();
}

bool RecipeRunner::CanGoWithout(const StageStudy& study) const {
  const std::string name = absl::StrJoin(study.names, "-");
  return !name.empty() &&
         std::ranges::none_of(
             opened_.recipe.stages, [&name](const RecipeStage& stage) {
               return stage.across.has_value() && stage.across->to == name;
             });
}

absl::Status RecipeRunner::GoOnWithout(const StageStudy& study,
                                       const v1::Study& ended) {
  ASSIGN_OR_RETURN(const v1::ListTrialsReply trials,
                   FetchTrials(client_, ended.name(), ""));
  std::string why = "it ran none";
  if (!trials.trials().empty()) {
    why = proto::CleanText(trials.trials(0).cause(), proto::kMaxCauseBytes);
  }
  std::cout << "\nSKIP " << NameOfEntry(study) << ": no trial of "
            << LastPart(ended.name()) << " succeeded: " << why
            << "; the others go on without it\n"
            << std::flush;
  without_.insert(study.names);
  return absl::OkStatus();
}

namespace {

ExitCode SayNothingIsLeft(const StageStudy& stage, const v1::Study& study) {
  const std::string id = LastPart(study.name());
  std::cerr << "stage " << NameOfEntry(stage)
            << " left nothing that can be used: no trial of " << id
            << " succeeded.\n`frostline trial list " << id
            << "` and `frostline trial log " << id
            << " 0` say why; mend that, and begin again with --as ID\n";
  return kExitNoResult;
}

}  // namespace

// Runs all studies of a stage at once, so that no worker waits for the last
// trial of one study.
absl::StatusOr<ExitCode> RecipeRunner::RunStage(const RecipeStage& stage) {
  ASSIGN_OR_RETURN(std::vector<StageStudy> studies,
                   StudiesOf(world_, stage, earlier_));
  for (StageStudy& study : studies) {
    if (adjust_) adjust_(study);
  }
  earlier_.insert(earlier_.end(), studies.begin(), studies.end());
  std::vector<std::pair<const StageStudy*, v1::Study>> begun;
  for (const StageStudy& study : studies) {
    if (without_.contains(study.names)) continue;  // said where it was tried
    if (IsSkipped(study)) {
      std::cout << "SKIP " << NameOfEntry(study) << ": its data set is not "
                << "registered\n";
      continue;
    }
    // The samples are so small that everything may run.
    if (stage.skip_slow_precision && opened_.options.scale != kSampleScale) {
      ASSIGN_OR_RETURN(const bool is_slow, IsSlowHere(study));
      if (is_slow) {
        left_out_.insert(study.study.id);
        std::cout << "SKIP " << NameOfEntry(study) << ": no worker computes in "
                  << study.study.spec.training().precision()
                  << " at full speed, so that it would take several times as "
                  << "long and say nothing of time\n";
        continue;
      }
    }
    ASSIGN_OR_RETURN(v1::Study there, Begin(study));
    begun.emplace_back(&study, std::move(there));
  }
  std::vector<std::pair<const StageStudy*, v1::Study>> empty;
  for (auto& [study, there] : begun) {
    ASSIGN_OR_RETURN(v1::Study ended, Await(std::move(there)));
    if (ended.counts().succeeded() > 0) {
      RETURN_IF_ERROR(Tell(*study, ended));
    } else {
      empty.emplace_back(study, std::move(ended));
    }
  }
  for (const auto& [study, ended] : empty) {
    if (empty.size() == begun.size() || !CanGoWithout(*study)) {
      return SayNothingIsLeft(*study, ended);
    }
    RETURN_IF_ERROR(GoOnWithout(*study, ended));
  }
  return kExitOk;
}

absl::StatusOr<ExitCode> RecipeRunner::Run() {
  for (const RecipeStage& stage : opened_.recipe.stages) {
    ASSIGN_OR_RETURN(const ExitCode code, RunStage(stage));
    if (code != kExitOk) return code;
  }
  return kExitOk;
}

}  // namespace frostline::cli
