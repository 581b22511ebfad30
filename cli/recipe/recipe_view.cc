// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe/recipe_view.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/plain/json.h"
#include "cli/recipe/recipe_findings.h"
#include "cli/recipe/run_table.h"
#include "cli/term/utf8.h"
#include "cli/view/format.h"

namespace frostline::cli {
namespace {

// "[…]" of what `one` says of each.
template <typename All, typename One>
std::string JsonList(const All& all, One one) {
  const auto append = [&one](std::string* out, const auto& each) {
    absl::StrAppend(out, one(each));
  };
  return absl::StrCat("[", absl::StrJoin(all, ",\n", append), "]");
}

std::string ScaleNames(const Recipe& recipe) {
  return absl::StrJoin(recipe.scales, ", ",
                       [](std::string* out, const RecipeScale& scale) {
                         absl::StrAppend(out, scale.name);
                       });
}

std::string Line(const std::string& text, int width) {
  return text.empty() ? "" : WrapText(text, width);
}

std::int64_t TrialsOf(const SurveyedStudy& study) {
  return study.study.study.settings.budget().trials();
}

std::string ScaleJson(const RecipeScale& scale) {
  return absl::StrCat("{\"name\": ", JsonString(scale.name),
                      ", \"about\": ", JsonString(scale.about), "}");
}

// Without the brace that ends it.
std::string RecipeStart(const Recipe& recipe) {
  return absl::StrCat("{\"name\": ", JsonString(recipe.name),
                      ", \"title\": ", JsonString(recipe.title),
                      ", \"question\": ", JsonString(recipe.question),
                      ", \"source\": ", JsonString(recipe.source),
                      ", \"scales\": ", JsonList(recipe.scales, ScaleJson));
}

std::string StudyJson(const SurveyedStudy& study) {
  const auto name = [](const StageRun& run) { return JsonString(run.name); };
  return absl::StrCat(
      "{\"study\": ", JsonString(study.study.study.id),
      ", \"stage\": ", JsonString(study.study.stage),
      ", \"trials\": ", TrialsOf(study),
      ", \"takes_earlier\": ", study.takes_earlier ? "true" : "false",
      ", \"runs\": ", JsonList(study.study.runs, name), "}");
}

std::string NeedJson(const MissingNeed& need) {
  return absl::StrCat("{\"id\": ", JsonString(need.id),
                      ", \"kind\": ", need.is_model ? "\"model\"" : "\"data\"",
                      ", \"stage\": ", JsonString(need.stage), "}");
}

std::string SkippedJson(const SurveyedStudy& study) {
  return absl::StrCat("{\"study\": ", JsonString(study.study.study.id),
                      ", \"missing\": ", JsonList(study.missing, NeedJson),
                      "}");
}

std::string SkippedText(const SurveyedStudy& study) {
  const auto id = [](std::string* out, const MissingNeed& need) {
    absl::StrAppend(out, need.id);
  };
  return absl::StrCat("SKIP ", NameOfEntry(study.study), ": no data set ",
                      absl::StrJoin(study.missing, ", ", id), "\n");
}

}  // namespace

Table RecipeTable(const std::vector<Recipe>& recipes) {
  Table table({{"RECIPE"}, {"SCALES", Align::kLeft, 1}, {"QUESTION"}});
  for (const Recipe& recipe : recipes) {
    table.AddRow({recipe.name, ScaleNames(recipe), recipe.question});
  }
  return table;
}

std::string RecipesJson(const std::vector<Recipe>& recipes) {
  const auto whole = [](const Recipe& recipe) {
    return RecipeStart(recipe) + "}";
  };
  return absl::StrCat("{\"recipes\": ", JsonList(recipes, whole), "}\n");
}

std::string RenderRecipe(const Recipe& recipe, const RecipeSurvey& survey,
                         int width) {
  std::string text = Line(recipe.title, width) + Line(recipe.question, width);
  if (!recipe.source.empty()) {
    text += Line(absl::StrCat("after: ", recipe.source), width);
  }
  text += Line(recipe.found, width) + Line(recipe.adds, width) + "\n";
  Table table({{"STUDY"},
               {"TRIALS", Align::kRight},
               {"RUNS", Align::kRight},
               {"WHAT", Align::kLeft, 1}});
  std::int64_t trials = 0;
  for (const SurveyedStudy& study : survey.studies) {
    trials += TrialsOf(study);
    const std::size_t runs = study.study.runs.size();
    table.AddRow({study.study.study.id, FormatCount(TrialsOf(study)),
                  runs == 0 ? "" : absl::StrCat(runs), study.study.about});
  }
  absl::StrAppend(&text, table.Render(width), FormatCount(trials),
                  " trials in ", survey.studies.size(), " studies\n");
  for (const SurveyedStudy& study : survey.skipped) text += SkippedText(study);
  for (const std::string& warning : survey.warnings) {
    text += Line(absl::StrCat("warning: ", warning), width);
  }
  return text;
}

std::string RecipeJson(const Recipe& recipe, const RecipeSurvey& survey) {
  return absl::StrCat(
      RecipeStart(recipe),
      ",\n\"stages\": ", JsonList(survey.studies, StudyJson),
      ",\n\"skipped\": ", JsonList(survey.skipped, SkippedJson),
      ",\n\"missing\": ", JsonList(survey.missing, NeedJson),
      ",\n\"warnings\": ", JsonList(survey.warnings, JsonString), "}\n");
}

std::string RenderStage(const StageRecord& stage,
                        const PublishedStage* published, int width) {
  std::string text;
  if (!RunsOf(stage.study).empty()) {
    const ReportTable runs = RunTable(stage.study, "runs", published);
    std::vector<Column> columns;
    for (const std::string& name : runs.columns) {
      columns.push_back({name, columns.empty() ? Align::kLeft : Align::kRight,
                         static_cast<int>(columns.size()) / 4});
    }
    Table table(std::move(columns));
    for (const auto& row : runs.rows) table.AddRow(row);
    text += table.Render(width);
  }
  for (const std::string& finding : FindingsOf(stage, published)) {
    text += Line(finding, width);
  }
  for (const std::string& sentence : stage.study.missing) {
    text += Line(sentence, width);
  }
  return text;
}

}  // namespace frostline::cli
