// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe/recipe_page.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "cli/recipe/published_judge.h"
#include "cli/recipe/rate_correlation.h"
#include "cli/recipe/recipe_stage.h"
#include "cli/recipe/run_figures.h"
#include "cli/recipe/run_table.h"
#include "cli/report/record_tables.h"
#include "cli/report/trial_figures.h"
#include "cli/report/trial_scores.h"
#include "cli/term/csv.h"
#include "cli/view/comparison_summary.h"
#include "cli/view/comparison_view.h"
#include "cli/view/format.h"
#include "cli/view/importance_svg.h"
#include "cli/view/importance_text.h"
#include "cli/view/trial_view.h"
#include "cli/view/usage_view.h"

namespace frostline::cli {
namespace {

constexpr int kLineWidth = 100;  // of what is shown as on a terminal
constexpr double kKept = 0.9;    // of the whole score, as Elsa asks
constexpr char kPublishedCsv[] = "-published";

std::string EntryOf(const StageRecord& stage) {
  const std::string entry = LabelOf(stage.study, kRecipeEntryLabel);
  return entry.empty() ? LastPart(stage.study.study.name()) : entry;
}

bool HasRuns(const StageRecord& stage) { return !RunsOf(stage.study).empty(); }

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

// All metrics that were published, of every run.
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

// "5 frozen keeps .97 of the score …", where places count from the run that
// the others are compared with.
std::string KeptSentence(const StudyRecord& record) {
  const auto scores = RelativeScores(record);
  const std::string to = LabelOf(record, kRecipeCompareLabel);
  if (scores.size() < 2 || scores[0].run != to) return "";
  const auto kept = FurthestThatKeeps(scores, kKept);
  if (!kept) {
    return absl::StrCat("No run keeps 90 % of the ", MetricOfRuns(record),
                        " of '", to, "'.");
  }
  return absl::StrFormat(
      "'%s' is the furthest that keeps 90 %% of the %s of '%s' in the mean: "
      "%.1f %%.",
      kept->run, MetricOfRuns(record), to, 100.0 * kept->share);
}

void RunsSection(const StageRecord& stage, const PublishedStage* published,
                 ReportSection& section) {
  const std::string entry = EntryOf(stage);
  section.tables.push_back(RunTable(stage.study, entry, published));
  if (published != nullptr) {
    section.tables.push_back(PublishedTable(*published, entry + kPublishedCsv));
  }
  if (stage.comparison) {
    section.verbatim = RenderTrialComparison(*stage.comparison, kLineWidth);
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
  if (HasRuns(stage)) {
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

// Where entries differ, how; of the others that they do not.
void SayAcross(const RecipeRecord& record, ReportSection& section) {
  std::vector<std::string> alike;
  for (const AcrossRecord& across : record.across) {
    const auto& tests = across.comparison.tests();
    const bool differs =
        std::any_of(tests.begin(), tests.end(),
                    [](const v1::PairedTest& test) { return test.differs(); });
    const std::string what = absl::StrCat(across.stage, ", '", across.run,
                                          "', ", across.comparison.metric());
    if (differs) {
      section.paragraphs.push_back(
          absl::StrCat(what, ": ", SummaryOf(across.comparison)));
    } else {
      alike.push_back(what);
    }
  }
  if (alike.empty()) return;
  section.paragraphs.push_back(absl::StrCat(
      "No entry can be told from the one that it was set against: ",
      absl::StrJoin(alike, "; "), "."));
}

// What each stage came to, first of all.
ReportSection VerdictSection(const RecipeRecord& record,
                             const std::optional<Recipe>& recipe) {
  ReportSection section = {.heading = "Verdict"};
  for (const StageRecord& stage : record.stages) {
    const auto findings = FindingsOf(stage, PublishedOf(recipe, stage));
    if (findings.empty()) continue;
    section.paragraphs.push_back(
        absl::StrCat(EntryOf(stage), ": ", findings[0]));
  }
  SayAcross(record, section);
  return section;
}

// Which stand-ins a scale has decides what its numbers can be held against. The
// studies say "elsa tiny".
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

// Of one stage's entries all tests that were made, one under the other.
std::vector<ReportSection> AcrossSections(const RecipeRecord& record) {
  std::vector<ReportSection> sections;
  for (const AcrossRecord& across : record.across) {
    const std::string heading =
        absl::StrCat(across.stage, ": entries side by side");
    if (sections.empty() || sections.back().heading != heading) {
      sections.push_back({.heading = heading});
    }
    ReportSection& section = sections.back();
    section.paragraphs.push_back(absl::StrCat("'", across.run, "', by ",
                                              across.comparison.metric(), ": ",
                                              SummaryOf(across.comparison)));
    absl::StrAppend(&section.verbatim,
                    RenderTrialComparison(across.comparison, kLineWidth), "\n");
  }
  if (!record.missing.empty()) {
    sections.push_back(
        {.heading = "What could not be tested", .paragraphs = record.missing});
  }
  return sections;
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

std::vector<std::string> FindingsOf(const StageRecord& stage,
                                    const PublishedStage* published) {
  std::vector<std::string> sentences;
  const auto say = [&sentences](const std::string& sentence) {
    if (!sentence.empty()) sentences.push_back(sentence);
  };
  const StudyRecord& study = stage.study;
  if (stage.comparison) say(SummaryOf(*stage.comparison));
  if (study.plan) say(study.plan->verdict());
  const auto best = ByScore(study);
  if (!best.empty() && !HasRuns(stage)) {
    say(absl::StrCat("Best trial: ", best[0]->number(), ", ",
                     ObjectiveText(*best[0], study.study.spec()),
                     ", as it was seen in one run."));
  }
  say(KeptSentence(study));
  if (study.importance) say(study.importance->verdict());
  if (published != nullptr) {
    for (const std::string& sentence :
         JudgePublished(*published, LabelOf(study, kRecipeCompareLabel),
                        MetricOfRuns(study))) {
      say(sentence);
    }
  }
  for (const std::string& warning : study.study.warnings()) say(warning);
  return sentences;
}

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

}  // namespace frostline::cli
