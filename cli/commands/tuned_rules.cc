// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/tuned_rules.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/error.h"
#include "cli/commands/recipe.h"
#include "cli/recipe/entry_table.h"
#include "cli/recipe/recipe_file.h"
#include "cli/recipe/recipe_record.h"
#include "cli/recipe/recipe_survey.h"
#include "cli/study_file/yaml_sugar.h"
#include "cli/view/format.h"

namespace frostline::cli {
namespace {

constexpr char kRules[] = "rivals";      // the recipe
constexpr char kRulesScale[] = "small";  // whose rates are tried
constexpr char kJudged[] = "judged";     // its stage with paired seeds
constexpr char kThePlan[] = "the plan";

constexpr std::array kRuleSettings = {"layers_by", "layers_share",
                                      "layers_batches", "layers_at_once",
                                      "layers_every_steps"};

YamlPtr NumberNode(const std::string& text) { return ScalarNode(text, {}); }

// Returns the names of the recipe that the searched study decides. A rule has
// at most as many seconds as the search took.
RecipeValues ValuesOf(const v1::Study& searched,
                      const std::vector<v1::Trial>& plan, double margin) {
  std::vector<YamlPtr> seeds;
  for (const v1::Trial& trial : plan) {
    seeds.push_back(NumberNode(absl::StrCat(trial.seed())));
  }
  RecipeValues values;
  values["seeds"] = ListNode(std::move(seeds), {});
  const double seconds = std::ceil(searched.usage().train_seconds());
  if (seconds > 0.0) {
    values["seconds"] = NumberNode(absl::StrFormat("%.0f", seconds));
  }
  if (margin > 0.0) values["margin"] = NumberNode(absl::StrCat(margin));
  return values;
}

RecipeStock StockOf(const v1::StudySpec& spec) {
  RecipeStock stock;
  stock.where = "the searched study";
  stock.models = {spec.model().id()};
  stock.data = {spec.data().id()};
  stock.model_facts = [spec](const std::string&) {
    RecipeValues facts;
    facts["layers"] = NumberNode(absl::StrCat(spec.model().layers()));
    facts["no_pooler"] =
        ScalarNode(spec.model().no_pooler() ? "true" : "false", {});
    return facts;
  };
  return stock;
}

// Sets the plan against each rule, by the tests of the recipe.
absl::StatusOr<v1::TrialComparison> AgainstThePlan(
    Client& client, const RecipeRecord& record,
    const std::vector<v1::Trial>& plan) {
  v1::CompareTrialsRequest request;
  v1::Contender& first = *request.add_contenders();
  first.set_name(kThePlan);
  for (const v1::Trial& trial : plan) first.add_trials(trial.name());
  for (const StageRecord& stage : record.stages) {
    if (LabelOf(stage.study, kRecipeStageLabel) != kJudged) continue;
    for (const RunTrials& run : RunsOf(stage.study)) {
      if (run.succeeded.empty()) continue;
      v1::Contender& rule = *request.add_contenders();
      rule.set_name(EntryNameOf(stage.study));
      for (const v1::Trial* trial : run.succeeded) {
        rule.add_trials(trial->name());
      }
    }
    NameOutcomes(stage.study, MetricOfRuns(stage.study), request);
  }
  return client.Call(&v1::ImportanceService::Stub::CompareTrials, request);
}

}  // namespace

absl::Status CheckHasRules(const v1::StudySpec& spec) {
  if (!spec.tasks().empty()) {
    return MakeError(ErrorId::kRequestInvalid,
                     "the rules are of one task, and the study has several",
                     "leave --rivals out", "--rivals");
  }
  if (spec.model().id().empty() || spec.model().layers() < 1) {
    return MakeError(ErrorId::kRequestInvalid,
                     "the rules are of a registered model with layers, and the "
                     "study names none",
                     "leave --rivals out", "--rivals");
  }
  return absl::OkStatus();
}

void TakeSettingsOf(const v1::Study& searched, StageStudy& study) {
  v1::StudySpec& spec = study.study.spec;
  const v1::Training rule = spec.training();
  *spec.mutable_model() = searched.spec().model();
  *spec.mutable_data() = searched.spec().data();
  *spec.mutable_objectives() = searched.spec().objectives();
  *spec.mutable_freeze() = searched.spec().freeze();
  *spec.mutable_lease() = searched.spec().lease();
  spec.set_allow_test_objective(searched.spec().allow_test_objective());
  v1::Training& training = *spec.mutable_training();
  training = searched.spec().training();
  training.clear_adapters();
  training.clear_lora();
  training.set_trains(rule.trains());
  if (rule.has_lora()) *training.mutable_lora() = rule.lora();
  training.set_report_example_outcomes(rule.report_example_outcomes() ||
                                       training.report_example_outcomes());
  auto& extra = *training.mutable_extra()->mutable_fields();
  for (const char* name : kRuleSettings) extra.erase(name);
  for (const auto& [name, value] : rule.extra().fields()) extra[name] = value;
  spec.mutable_freeze()->clear_virtual_tau();
  const std::string& decided = searched.settings().auto_precision();
  if (!decided.empty() &&
      (training.precision().empty() || training.precision() == "auto")) {
    training.set_precision(decided);
  }
  *study.study.settings.mutable_required_worker_labels() =
      searched.settings().required_worker_labels();
}

absl::StatusOr<ExitCode> TuneRules(Session& session, Client& client,
                                   const v1::Study& searched,
                                   const std::vector<v1::Trial>& plan,
                                   const std::string& id, double margin,
                                   StopSignals& signals) {
  RETURN_IF_ERROR(CheckHasRules(searched.spec()));
  if (plan.empty()) {
    return MakeError(ErrorId::kTrialsTooFew,
                     "no run of the plan succeeded, so that nothing can be set "
                     "against it",
                     "see why with `frostline trial list`", "--rivals");
  }
  OpenedRecipe opened;
  ASSIGN_OR_RETURN(opened.recipe, OpenRecipe(kRules));
  ASSIGN_OR_RETURN(const RecipeScale* const scale,
                   FindScale(opened.recipe, kRulesScale));
  opened.scale = *scale;
  opened.options = {kRulesScale, id, searched.spec().model().id(),
                    searched.spec().data().id(),
                    ValuesOf(searched, plan, margin)};
  const RecipeStock stock = StockOf(searched.spec());
  ASSIGN_OR_RETURN(
      const RecipeSurvey survey,
      SurveyRecipe(opened.recipe, opened.scale, opened.options, stock));
  RecipeRunner runner(opened, survey, stock, client, nullptr, signals,
                      session.terminal);
  runner.AdjustWith(
      [&searched](StageStudy& study) { TakeSettingsOf(searched, study); });
  ASSIGN_OR_RETURN(const ExitCode code, runner.Run());
  if (code != kExitOk) return code;
  ASSIGN_OR_RETURN(const RecipeRecord record,
                   FetchRun(client, id, &opened.recipe, /*tolerance=*/0.0));
  std::cout << RenderEntries(record, session.terminal.width);
  ASSIGN_OR_RETURN(const v1::TrialComparison comparison,
                   AgainstThePlan(client, record, plan));
  std::cout << "\n"
            << WrapText(SearchAnswer(comparison), session.terminal.width);
  std::cerr << "\nnext: frostline report " << id << " -o " << id << ".html\n";
  return kExitOk;
}

}  // namespace frostline::cli
