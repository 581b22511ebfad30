// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe/recipe_file.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/recipe/yaml_fields.h"

namespace frostline::cli {
namespace {

// A later format may mean other things by the same keys, so nothing else of it
// is judged.
absl::Status CheckFormat(YamlFields& fields, const std::string& file) {
  const double format = fields.TakeNumber("format");
  if (format <= kRecipeFormat) return absl::OkStatus();
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat(file, " is a recipe of format ", format,
                   "; this version "
                   "reads formats up to ",
                   kRecipeFormat),
      "run it with the version of Frostline that it was written for", "format");
}

absl::StatusOr<std::map<std::string, RecipeNeed>> ReadNeeds(
    const YamlPtr& node, const std::string& file, const std::string& of) {
  std::map<std::string, RecipeNeed> needs;
  if (node == nullptr) return needs;
  for (const YamlEntry& entry : node->entries) {
    YamlFields fields(entry.value, file, absl::StrCat(of, " ", entry.key));
    RecipeNeed& need = needs[entry.key];
    need.what = fields.NeedText("what", "UD English EWT");
    need.where = fields.NeedText("where", "universaldependencies.org");
    need.add = fields.TakeText("add");
    for (const char* const fact : {"layers", "heads", "no_pooler"}) {
      const YamlPtr value = fields.Take(fact);
      if (value != nullptr) need.facts[fact] = value;
    }
    RETURN_IF_ERROR(fields.Finish());
  }
  return needs;
}

absl::StatusOr<std::vector<RecipeScale>> ReadScales(const YamlPtr& node,
                                                    const std::string& file) {
  std::vector<RecipeScale> scales;
  if (node == nullptr) return scales;
  for (const YamlEntry& entry : node->entries) {
    YamlFields fields(entry.value, file, absl::StrCat("scale ", entry.key));
    RecipeScale scale;
    scale.name = entry.key;
    scale.about = fields.TakeText("about");
    for (const YamlEntry& value : fields.TakeRest()) {
      scale.values[value.key] = value.value;
    }
    RETURN_IF_ERROR(fields.Finish());
    scales.push_back(std::move(scale));
  }
  return scales;
}

absl::StatusOr<std::optional<RecipeCompare>> ReadCompare(
    const YamlPtr& node, const std::string& file) {
  if (node == nullptr) return std::optional<RecipeCompare>();
  YamlFields fields(node, file, "compare");
  RecipeCompare compare;
  compare.to = fields.NeedText("to", "all trained");
  compare.metric = fields.TakeText("metric");
  compare.margin = fields.TakeNumber("margin");
  RETURN_IF_ERROR(fields.Finish());
  return std::optional<RecipeCompare>(std::move(compare));
}

absl::StatusOr<std::optional<RecipeAcross>> ReadAcross(
    const YamlPtr& node, const std::string& file) {
  if (node == nullptr) return std::optional<RecipeAcross>();
  YamlFields fields(node, file, "across");
  RecipeAcross across;
  across.to = fields.NeedText("to", "joined");
  const YamlPtr metrics = fields.Take("metrics");
  RETURN_IF_ERROR(fields.Finish());
  if (metrics == nullptr) return std::optional<RecipeAcross>(across);
  for (const YamlPtr& metric : metrics->items) {
    across.metrics.push_back(metric->text);
  }
  if (!across.metrics.empty()) return std::optional<RecipeAcross>(across);
  return ErrorAt(ErrorId::kStudyFileSyntax, file, metrics->mark,
                 absl::StrCat("metrics of across is ", Describe(*metrics)),
                 "write a list: [accuracy, f1]", "across.metrics");
}

absl::StatusOr<RecipeStage> ReadStage(const YamlEntry& entry,
                                      const std::string& file) {
  const std::string what = absl::StrCat("stage ", entry.key);
  YamlFields fields(entry.value, file, what);
  RecipeStage stage;
  stage.name = entry.key;
  stage.about = fields.TakeText("about");
  stage.each = fields.Take("each");
  stage.runs = fields.TakeMap("runs");
  stage.study = fields.TakeMap("study");
  stage.curve = fields.TakeText("curve");
  stage.skip_without_data = fields.TakeFlag("skip_without_data");
  ASSIGN_OR_RETURN(stage.compare, ReadCompare(fields.TakeMap("compare"), file));
  ASSIGN_OR_RETURN(stage.across, ReadAcross(fields.TakeMap("across"), file));
  if (stage.study == nullptr) {
    fields.Fail(entry.key_mark, ErrorId::kStudyFieldMissing,
                absl::StrCat(what, " has no study"),
                "add study: with the keys of a study file", "study");
  }
  if (stage.compare && stage.runs == nullptr) {
    fields.Fail(entry.key_mark, ErrorId::kStudyFileSyntax,
                absl::StrCat(what, " compares, and has no runs"),
                "name runs, or leave compare out", "compare");
  }
  if (stage.across && (stage.runs == nullptr || stage.each == nullptr)) {
    fields.Fail(entry.key_mark, ErrorId::kStudyFileSyntax,
                absl::StrCat(what,
                             " compares across entries, and has none, or "
                             "no runs"),
                "add each and runs, or leave across out", "across");
  }
  if (!CheckId(stage.name, "stage").ok()) {
    fields.Fail(entry.key_mark, ErrorId::kNameInvalid,
                absl::StrCat("'", stage.name, "' cannot be a stage's name"),
                "use lower-case letters, digits and hyphens", "stages");
  }
  RETURN_IF_ERROR(fields.Finish());
  return stage;
}

absl::StatusOr<PublishedStage> ReadPublished(const YamlEntry& entry,
                                             const std::string& file) {
  YamlFields fields(entry.value, file, absl::StrCat("published ", entry.key));
  PublishedStage published;
  published.examples = static_cast<std::int64_t>(fields.TakeNumber("examples"));
  const YamlPtr runs = fields.TakeMap("runs");
  RETURN_IF_ERROR(fields.Finish());
  if (runs == nullptr) return published;
  for (const YamlEntry& run : runs->entries) {
    YamlFields metrics(run.value, file, absl::StrCat("published ", run.key));
    for (const YamlEntry& metric : run.value->entries) {
      published.runs[run.key][metric.key] = metrics.TakeNumber(metric.key);
    }
    RETURN_IF_ERROR(metrics.Finish());
  }
  return published;
}

absl::Status CheckComplete(const Recipe& recipe, const YamlPtr& root,
                           YamlFields& fields) {
  if (recipe.scales.empty() || recipe.stages.empty()) {
    const char* const lacks = recipe.scales.empty() ? "scales" : "stages";
    fields.Fail(root->mark, ErrorId::kStudyFieldMissing,
                absl::StrCat("the recipe has no ", lacks),
                absl::StrCat("add ", lacks,
                             ": as docs/reference/recipe-file.md "
                             "shows"),
                lacks);
  }
  return fields.Finish();
}

}  // namespace

absl::StatusOr<Recipe> ParseRecipe(const std::string& text,
                                   const std::string& file) {
  ASSIGN_OR_RETURN(const YamlPtr root, ParseYaml(text, file));
  YamlFields fields(root, file, "the recipe");
  RETURN_IF_ERROR(CheckFormat(fields, file));
  Recipe recipe;
  recipe.file = file;
  recipe.text = text;
  recipe.name = fields.NeedText("recipe", "elsa");
  recipe.title = fields.NeedText("title", "How many layers are enough");
  recipe.question = fields.NeedText("question", "What is lost?");
  recipe.source = fields.TakeText("source");
  recipe.found = fields.TakeText("found");
  recipe.adds = fields.TakeText("adds");
  recipe.highest_layer_rate = fields.TakeNumber("highest_layer_rate");
  ASSIGN_OR_RETURN(recipe.models,
                   ReadNeeds(fields.TakeMap("models"), file, "model"));
  ASSIGN_OR_RETURN(recipe.data,
                   ReadNeeds(fields.TakeMap("data"), file, "data set"));
  ASSIGN_OR_RETURN(recipe.scales, ReadScales(fields.TakeMap("scales"), file));
  if (const YamlPtr stages = fields.TakeMap("stages")) {
    for (const YamlEntry& entry : stages->entries) {
      ASSIGN_OR_RETURN(RecipeStage stage, ReadStage(entry, file));
      recipe.stages.push_back(std::move(stage));
    }
  }
  if (const YamlPtr published = fields.TakeMap("published")) {
    for (const YamlEntry& entry : published->entries) {
      ASSIGN_OR_RETURN(recipe.published[entry.key], ReadPublished(entry, file));
    }
  }
  RETURN_IF_ERROR(CheckComplete(recipe, root, fields));
  return recipe;
}

absl::StatusOr<const RecipeScale*> FindScale(const Recipe& recipe,
                                             const std::string& name) {
  std::vector<std::string> names;
  for (const RecipeScale& scale : recipe.scales) {
    if (scale.name == name) return &scale;
    names.push_back(scale.name);
  }
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat("recipe ", recipe.name, " has no scale '", name, "'"),
      absl::StrCat("take one of ", absl::StrJoin(names, ", ")), "--scale");
}

}  // namespace frostline::cli
