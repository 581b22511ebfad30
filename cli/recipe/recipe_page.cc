// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe/recipe_page.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/plain/json.h"
#include "cli/recipe/recipe_findings.h"
#include "cli/recipe/recipe_stage.h"
#include "cli/recipe/run_table.h"
#include "cli/report/trial_figures.h"
#include "cli/report/trial_scores.h"
#include "cli/term/table.h"
#include "cli/term/utf8.h"
#include "cli/view/comparison_view.h"
#include "cli/view/format.h"
#include "cli/view/importance_text.h"
#include "cli/view/svg.h"
#include "cli/view/trial_view.h"

namespace frostline::cli {
namespace {

constexpr char kPublishedCsv[] = "-published";

std::string EntryOf(const StageRecord& stage) {
  const std::string entry = LabelOf(stage.study, kRecipeEntryLabel);
  return entry.empty() ? LastPart(stage.study.study.name()) : entry;
}

const PublishedStage* PublishedOf(const std::optional<Recipe>& recipe,
                                  const StageRecord& stage) {
  if (!recipe) return nullptr;
  const auto found = recipe->published.find(EntryOf(stage));
  return found == recipe->published.end() ? nullptr : &found->second;
}

void AddFigure(const std::string& name, const std::string& caption,
               std::string svg, ReportSection& section) {
  if (svg.empty()) return;
  section.figures.push_back({name, caption, std::move(svg)});
}

// Returns all published metrics of every run.
ReportTable PublishedTable(const PublishedStage& published,
                           const std::string& name) {
  std::vector<std::string> metrics;
  for (const auto& [run, values] : published.runs) {
    for (const auto& [metric, value] : values) {
      if (std::count(metrics.begin(), metrics.end(), metric) == 0) {
        metrics.push_back(metric);
      }
    }
  }
  ReportTable table = {name, {"run, as published"}, {}, ""};
  table.columns.insert(table.columns.end(), metrics.begin(), metrics.end());
  table.csv = CsvLine(table.columns);
  for (const auto& [run, values] : published.runs) {
    std::vector<std::string> shown = {run}, full = {run};
    for (const std::string& metric : metrics) {
      const auto value = values.find(metric);
      const bool has = value != values.end();
      shown.push_back(has ? FormatNumber(value->second) : "");
      full.push_back(has ? CsvNumber(value->second) : "");
    }
    table.rows.push_back(std::move(shown));
    table.csv += CsvLine(full);
  }
  return table;
}

void RunsSection(const StageRecord& stage, const PublishedStage* published,
                 ReportSection& section) {
  const std::string entry = EntryOf(stage);
  section.tables.push_back(RunTable(stage.study, entry, published));
  if (published != nullptr) {
    section.tables.push_back(PublishedTable(*published, entry + kPublishedCsv));
  }
  if (stage.comparison) {
    section.verbatim = RenderTrialComparison(*stage.comparison, kVerbatimWidth);
  }
  AddFigure(entry + "-share", "The score that is left, by place.",
            RelativeScoreSvg(stage.study), section);
  AddFigure(entry + "-curves", "How training went.", RunCurvesSvg(stage.study),
            section);
  AddFigure(entry + "-trade-off",
            "Score against trained parameters and against seconds.",
            TradeOffSvg(stage.study), section);
}

void SearchSection(const StageRecord& stage, ReportSection& section) {
  const std::string entry = EntryOf(stage);
  const StudyRecord& study = stage.study;
  if (study.plan) {
    section.tables.push_back(PlanTable(*study.plan));
    section.tables.back().name = entry + "-plan";
  }
  if (study.importance) {
    AddFigure(entry + "-importance",
              "Share of the variance that each module explains, with its 80 "
              "and 95 % intervals.",
              ImportanceSvg(*study.importance), section);
    section.tables.push_back(ImportanceTable(*study.importance));
    section.tables.back().name = entry + "-importance";
  }
  const auto correlations = CorrelateRates(study);
  if (!correlations.empty()) {
    section.tables.push_back(
        CorrelationTable(correlations, entry + "-correlation"));
  }
  AddFigure(entry + "-rates", "The rate of every module in the best trials.",
            RateMapSvg(study), section);
  AddFigure(entry + "-trade-off",
            "Score against trained parameters and against seconds.",
            TradeOffSvg(study), section);
}

ReportSection SectionOf(const StageRecord& stage,
                        const std::optional<Recipe>& recipe) {
  ReportSection section = {.heading = EntryOf(stage)};
  const std::string name = LabelOf(stage.study, kRecipeStageLabel);
  if (recipe) {
    for (const RecipeStage& known : recipe->stages) {
      if (known.name == name && !known.about.empty()) {
        section.paragraphs.push_back(known.about);
      }
    }
  }
  const PublishedStage* const published = PublishedOf(recipe, stage);
  for (std::string& sentence : FindingsOf(stage, published)) {
    section.paragraphs.push_back(std::move(sentence));
  }
  for (const std::string& sentence : stage.study.missing) {
    section.paragraphs.push_back(sentence);
  }
  if (!RunsOf(stage.study).empty()) {
    RunsSection(stage, published, section);
  } else {
    SearchSection(stage, section);
  }
  section.verbatim += UsageLines(stage.study.study.usage());
  return section;
}

ReportSection QuestionSection(const Recipe& recipe) {
  ReportSection section = {.heading = "Question"};
  section.paragraphs.push_back(recipe.question);
  for (const std::string& text : {recipe.found, recipe.adds}) {
    if (!text.empty()) section.paragraphs.push_back(text);
  }
  return section;
}

// Returns the first section: the result of each stage.
ReportSection VerdictSection(const RecipeRecord& record,
                             const std::optional<Recipe>& recipe) {
  ReportSection section = {.heading = "Verdict"};
  for (const StageRecord& stage : record.stages) {
    const auto findings = FindingsOf(stage, PublishedOf(recipe, stage));
    if (findings.empty()) continue;
    section.paragraphs.push_back(
        absl::StrCat(EntryOf(stage), ": ", findings[0]));
  }
  for (std::string& sentence : AcrossSentences(record)) {
    section.paragraphs.push_back(std::move(sentence));
  }
  return section;
}

// Adds a line about the scale. Its stand-ins decide what its numbers can be
// compared with. The studies say "elsa tiny".
void AddScaleLine(const RecipeRecord& record, const Recipe& recipe,
                  ReportPage& page) {
  if (record.stages.empty()) return;
  const std::string& said = record.stages[0].study.study.spec().recipe();
  const std::string name = said.substr(said.rfind(' ') + 1);
  for (const RecipeScale& scale : recipe.scales) {
    if (scale.name != name) continue;
    page.lines.push_back(absl::StrCat("scale ", name, ": ", scale.about));
  }
}

ReportSection TrialsSection(const RecipeRecord& record) {
  ReportSection section = {.heading = "All trials"};
  for (const StageRecord& stage : record.stages) {
    section.tables.push_back(TrialsTable(stage.study));
    section.tables.back().name = EntryOf(stage) + "-trials";
  }
  return section;
}

}  // namespace

absl::StatusOr<ReportPage> ComposeRecipeReport(const RecipeRecord& record) {
  std::optional<Recipe> recipe;
  if (!record.recipe_text.empty()) {
    ASSIGN_OR_RETURN(recipe,
                     ParseRecipe(record.recipe_text, record.recipe_file));
  }
  ReportPage page;
  page.title = recipe ? recipe->title : absl::StrCat("Recipe run ", record.run);
  page.lines = {absl::StrCat("run ", record.run)};
  if (recipe && !recipe->source.empty()) {
    page.lines.push_back(absl::StrCat("after: ", recipe->source));
  }
  if (recipe) AddScaleLine(record, *recipe, page);
  page.sections.push_back(VerdictSection(record, recipe));
  if (recipe) page.sections.push_back(QuestionSection(*recipe));
  for (const StageRecord& stage : record.stages) {
    page.sections.push_back(SectionOf(stage, recipe));
  }
  for (ReportSection& section : AcrossSections(record)) {
    page.sections.push_back(std::move(section));
  }
  page.sections.push_back(TrialsSection(record));
  return page;
}

namespace {

// Returns "[…]" with the text of `one` for each element.
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

// Returns the JSON of a recipe without its closing brace.
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
