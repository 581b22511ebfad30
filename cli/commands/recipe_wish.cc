// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "cli/commands/recipe.h"
#include "cli/commands/registry.h"
#include "cli/recipe/known_recipes.h"
#include "cli/recipe/sample_registry.h"

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

absl::StatusOr<OpenedRecipe> OpenWished(const RecipeArgs& args) {
  OpenedRecipe opened;
  ASSIGN_OR_RETURN(opened.recipe, OpenRecipe(args.name));
  const std::string scale =
      args.scale.empty() ? opened.recipe.scales[0].name : args.scale;
  ASSIGN_OR_RETURN(const RecipeScale* const found,
                   FindScale(opened.recipe, scale));
  opened.scale = *found;
  if (!args.id.empty()) RETURN_IF_ERROR(CheckNewName(args.id, "--as"));
  opened.wish = {scale, args.id, args.model, args.data, {}};
  ASSIGN_OR_RETURN(opened.wish.set, SetValues(args.set));
  return opened;
}

absl::StatusOr<SurveyedWish> SurveyWished(Session& session,
                                          const RecipeArgs& args,
                                          const OpenedRecipe& opened,
                                          bool on_this_machine) {
  SurveyedWish found;
  ASSIGN_OR_RETURN(found.stock, FindStock(session, args.registry));
  ASSIGN_OR_RETURN(found.survey, SurveyRecipe(opened.recipe, opened.scale,
                                              opened.wish, found.stock));
  if (found.can_run() || opened.wish.scale != kSampleScale ||
      !args.registry.empty()) {
    return found;
  }
  if (!on_this_machine) {
    ASSIGN_OR_RETURN(const RecipeStock fleet, StockOfFleet(session));
    if (!fleet.of_nobody) return found;
  }
  SurveyedWish samples;
  samples.stock = StockOfSamples();
  samples.of_samples = true;
  ASSIGN_OR_RETURN(samples.survey, SurveyRecipe(opened.recipe, opened.scale,
                                                opened.wish, samples.stock));
  return samples.can_run() ? samples : found;
}

}  // namespace frostline::cli
