// SPDX-License-Identifier: Apache-2.0
//
// `frostline recipe list | show | check`; `run` is in recipe_run.cc.
#include "cli/commands/recipe.h"

#include <iostream>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "cli/commands/command.h"
#include "cli/commands/output_flags.h"
#include "cli/commands/recipe_run.h"
#include "cli/recipe/known_recipes.h"
#include "cli/recipe/recipe_view.h"

namespace frostline::cli {
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
  RETURN_IF_ERROR(PrintListJson(
      session.terminal, output, RecipesJson(recipes),
      [&recipes](bool) { return RecipeTable(recipes); }, "no recipes"));
  return kExitOk;
}

absl::StatusOr<ExitCode> ShowRecipe(Session& session, const LookArgs& args,
                                    bool checks) {
  ASSIGN_OR_RETURN(const OpenedRecipe opened, OpenWished(args.recipe));
  ASSIGN_OR_RETURN(const SurveyedWish found,
                   SurveyWished(session, args.recipe, opened,
                                /*on_this_machine=*/true));
  const RecipeSurvey& survey = found.survey;
  if (checks) {
    RETURN_IF_ERROR(CheckSurvey(survey, args.recipe.registry));
  }
  RETURN_IF_ERROR(PrintOneJson(
      session.terminal, args.output, RecipeJson(opened.recipe, survey), [&] {
        const std::string text =
            RenderRecipe(opened.recipe, survey, session.terminal.width);
        if (survey.missing.empty()) return text;
        return absl::StrCat(text, "\nnot in ", found.stock.where, ":\n",
                            DescribeMissing(opened.recipe, survey.missing));
      }));
  if (!checks) return kExitOk;
  if (!found.can_run())
    std::cerr << "it cannot run at scale " << opened.wish.scale
              << " as it is\n";
  return found.can_run() ? kExitOk : kExitInvalidFile;
}

void AddLook(CLI::App& noun, Invocation& invocation, const char* name,
             const char* help, bool checks) {
  const auto args = std::make_shared<LookArgs>();
  CLI::App* const verb =
      AddVerb(noun, name, help, invocation, [args, checks](Session& session) {
        return ShowRecipe(session, *args, checks);
      });
  AddRecipeArgs(*verb, args->recipe);
  AddOneFormats(verb, args->output);
}

}  // namespace

void AddRecipeCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* const noun =
      app.add_subcommand("recipe", "Published experiments, as one command");
  noun->require_subcommand(1)->fallthrough();
  const auto output = std::make_shared<Output>();
  CLI::App* const list = AddVerb(
      *noun, "list", "The recipes, and what they ask", invocation,
      [output](Session& session) { return ListRecipes(session, *output); });
  AddListFormats(list, *output);
  AddLook(*noun, invocation, "show",
          "What a recipe asks, its stages and what it needs", false);
  AddLook(*noun, invocation, "check",
          "Whether a recipe could run, and what is missing", true);
  AddRecipeRun(*noun, invocation);
}

}  // namespace frostline::cli
