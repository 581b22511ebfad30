// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe/recipe_view.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/plain/json_text.h"
#include "cli/recipe/run_table.h"
#include "cli/term/table.h"
#include "cli/term/utf8.h"
#include "cli/view/format.h"

namespace frostline::cli {
namespace {

std::string ScaleNames(const Recipe& recipe) {
  std::vector<std::string> names;
  for (const RecipeScale& scale : recipe.scales) names.push_back(scale.name);
  return absl::StrJoin(names, ", ");
}

std::string Line(const std::string& text, int width) {
  return text.empty() ? "" : WrapText(text, width);
}

std::int64_t TrialsOf(const SurveyedStudy& study) {
  return study.study.study.settings.budget().trials();
}

std::string ScalesJson(const Recipe& recipe) {
  std::vector<std::string> scales;
  for (const RecipeScale& scale : recipe.scales) {
    scales.push_back(absl::StrCat("{\"name\": ", JsonString(scale.name),
                                  ", \"about\": ", JsonString(scale.about),
                                  "}"));
  }
  return absl::StrCat("[", absl::StrJoin(scales, ", "), "]");
}

// Without the brace that ends it.
std::string RecipeStart(const Recipe& recipe) {
  return absl::StrCat("{\"name\": ", JsonString(recipe.name),
                      ", \"title\": ", JsonString(recipe.title),
                      ", \"question\": ", JsonString(recipe.question),
                      ", \"source\": ", JsonString(recipe.source),
                      ", \"scales\": ", ScalesJson(recipe));
}

std::string StudyJson(const SurveyedStudy& study) {
  std::vector<std::string> runs;
  for (const StageRun& run : study.study.runs) {
    runs.push_back(JsonString(run.name));
  }
  return absl::StrCat(
      "{\"study\": ", JsonString(study.study.study.id),
      ", \"stage\": ", JsonString(study.study.stage),
      ", \"trials\": ", TrialsOf(study),
      ", \"takes_earlier\": ", study.takes_earlier ? "true" : "false",
      ", \"runs\": [", absl::StrJoin(runs, ", "), "]}");
}

std::string NeedsJson(const std::vector<MissingNeed>& needs) {
  std::vector<std::string> all;
  for (const MissingNeed& need : needs) {
    all.push_back(absl::StrCat("{\"id\": ", JsonString(need.id), ", \"kind\": ",
                               need.is_model ? "\"model\"" : "\"data\"",
                               ", \"stage\": ", JsonString(need.stage), "}"));
  }
  return absl::StrCat("[", absl::StrJoin(all, ", "), "]");
}

std::string SkippedText(const SurveyedStudy& study) {
  std::vector<std::string> ids;
  for (const MissingNeed& need : study.missing) ids.push_back(need.id);
  return absl::StrCat("SKIP ", NameOfEntry(study.study), ": no data set ",
                      absl::StrJoin(ids, ", "), "\n");
}

}  // namespace

std::string RenderRecipes(const std::vector<Recipe>& recipes, int width) {
  Table table({{"RECIPE"}, {"SCALES", Align::kLeft, 1}, {"QUESTION"}});
  for (const Recipe& recipe : recipes) {
    table.AddRow({recipe.name, ScaleNames(recipe), recipe.question});
  }
  return table.Render(width);
}

std::string RecipesJson(const std::vector<Recipe>& recipes) {
  std::vector<std::string> all;
  for (const Recipe& recipe : recipes) all.push_back(RecipeStart(recipe) + "}");
  return absl::StrCat("{\"recipes\": [", absl::StrJoin(all, ",\n"), "]}\n");
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
  std::vector<std::string> studies, skipped;
  for (const SurveyedStudy& study : survey.studies) {
    studies.push_back(StudyJson(study));
  }
  for (const SurveyedStudy& study : survey.skipped) {
    skipped.push_back(
        absl::StrCat("{\"study\": ", JsonString(study.study.study.id),
                     ", \"missing\": ", NeedsJson(study.missing), "}"));
  }
  std::vector<std::string> warnings;
  for (const std::string& warning : survey.warnings) {
    warnings.push_back(JsonString(warning));
  }
  return absl::StrCat(
      RecipeStart(recipe), ",\n\"stages\": [", absl::StrJoin(studies, ",\n"),
      "],\n\"skipped\": [", absl::StrJoin(skipped, ",\n"),
      "],\n\"missing\": ", NeedsJson(survey.missing), ",\n\"warnings\": [",
      absl::StrJoin(warnings, ", "), "]}\n");
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
