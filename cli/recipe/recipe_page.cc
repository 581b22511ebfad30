// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe/recipe_page.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/plain/json.h"
#include "cli/recipe/entry_table.h"
#include "cli/recipe/recipe_answer.h"
#include "cli/recipe/recipe_stage.h"
#include "cli/recipe/run_table.h"
#include "cli/report/trial_figures.h"
#include "cli/term/table.h"
#include "cli/view/format.h"
#include "cli/view/importance_view.h"
#include "cli/view/outcomes_view.h"
#include "cli/view/svg.h"
#include "cli/view/trial_view.h"
#include "statistics/scores/scores.h"

namespace frostline::cli {
namespace {

constexpr double kTwoSided95 = 1.959963984540054;  // of the normal law

const double* Find(const std::map<std::string, double>& metrics,
                   const std::string& metric) {
  for (const std::string& name :
       {metric, metric.substr(metric.rfind('.') + 1)}) {
    const auto found = metrics.find(name);
    if (found != metrics.end()) return &found->second;
  }
  return nullptr;
}

// Returns "all layers frozen (-4.8 points)".
std::string JudgedRun(const std::string& run, double difference) {
  return absl::StrFormat("%s (%+.1f points)", run, 100.0 * difference);
}

}  // namespace

double LeastVisibleDifference(double first, double second,
                              std::int64_t examples) {
  const double p = (first + second) / 2.0;
  if (examples < 1 || !(p > 0.0 && p < 1.0)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return kTwoSided95 *
         std::sqrt(2.0 * p * (1.0 - p) / static_cast<double>(examples));
}

std::vector<std::string> JudgePublished(const PublishedStage& published,
                                        const std::string& to,
                                        const std::string& metric) {
  std::vector<std::string> sentences;
  const auto base = published.runs.find(to);
  if (base == published.runs.end() || !absl::EndsWith(metric, "accuracy")) {
    return sentences;
  }
  const double* const of_to = Find(base->second, metric);
  if (of_to == nullptr) return sentences;
  std::vector<std::string> more, chance;
  double most = 0.0;
  for (const auto& [run, metrics] : published.runs) {
    const double* const value = Find(metrics, metric);
    if (run == to || value == nullptr) continue;
    const double least =
        LeastVisibleDifference(*value, *of_to, published.examples);
    if (std::isnan(least)) continue;
    most = std::max(most, least);
    const double difference = *value - *of_to;
    (std::abs(difference) >= least ? more : chance)
        .push_back(JudgedRun(run, difference));
  }
  std::string sentence =
      absl::StrCat("Their differences to '", to, "' are of single runs.");
  if (!more.empty()) {
    absl::StrAppend(&sentence, " More than the choice of examples makes: ",
                    absl::StrJoin(more, ", "), ".");
  }
  if (!chance.empty()) {
    absl::StrAppend(&sentence, " Not to be told from chance: ",
                    absl::StrJoin(chance, ", "), ".");
  }
  if (more.empty() && chance.empty()) return sentences;
  absl::StrAppend(
      &sentence, absl::StrFormat(
                     " On %s examples two runs that are equally good differ by "
                     "%.1f points once in twenty.",
                     FormatCount(published.examples), 100.0 * most));
  sentences.push_back(std::move(sentence));
  return sentences;
}

namespace {

constexpr std::size_t kFewestTrials = 5;  // an interval needs more than three
constexpr double kSpreadOfZ = 1.959963984540054 * 1.06;

struct Pairs {
  std::vector<double> rates;
  std::vector<double> scores;
};

void Bound(RateCorrelation& one) {
  const double width =
      kSpreadOfZ / std::sqrt(static_cast<double>(one.trials) - 3.0);
  // atanh of exactly 1 is infinite, and so is its interval's near end.
  const double r = std::clamp(one.correlation, -1.0 + 1e-12, 1.0 - 1e-12);
  one.lo95 = std::tanh(std::atanh(r) - width);
  one.hi95 = std::tanh(std::atanh(r) + width);
}

}  // namespace

std::vector<RateCorrelation> CorrelateRates(const StudyRecord& record) {
  std::vector<std::string> order;
  std::map<std::string, Pairs> all;
  for (const v1::Trial* trial : ByScore(record)) {
    for (const v1::ModuleRate& rate : trial->rates()) {
      const auto [found, is_new] = all.try_emplace(rate.module());
      if (is_new) order.push_back(rate.module());
      found->second.rates.push_back(rate.rate());
      found->second.scores.push_back(trial->values(0));
    }
  }
  std::vector<RateCorrelation> correlations;
  for (const std::string& module : order) {
    const Pairs& pairs = all.at(module);
    if (pairs.rates.size() < kFewestTrials) continue;
    const auto r = statistics::Spearman(pairs.rates, pairs.scores);
    if (!r) continue;  // one rate in all trials, or one score
    RateCorrelation& one = correlations.emplace_back();
    one.module = module;
    one.correlation = *r;
    one.trials = pairs.rates.size();
    Bound(one);
  }
  return correlations;
}

ReportTable CorrelationTable(const std::vector<RateCorrelation>& all,
                             const std::string& name) {
  ReportTable table = {
      name, {"module", "rate and score", "95 %", "trials"}, {}, ""};
  table.csv = CsvLine({"module", "spearman", "lo95", "hi95", "trials"});
  for (const RateCorrelation& one : all) {
    table.rows.push_back({one.module, absl::StrFormat("%.2f", one.correlation),
                          absl::StrFormat("%.2f … %.2f", one.lo95, one.hi95),
                          absl::StrCat(one.trials)});
    table.csv +=
        CsvLine({one.module, CsvNumber(one.correlation), CsvNumber(one.lo95),
                 CsvNumber(one.hi95), absl::StrCat(one.trials)});
  }
  return table;
}

std::vector<std::string> AcrossSentences(const RecipeRecord& record) {
  std::vector<std::string> sentences;
  std::vector<std::string> alike;
  for (const AcrossRecord& across : record.across) {
    const auto& tests = across.comparison.tests();
    const bool differs =
        std::any_of(tests.begin(), tests.end(),
                    [](const v1::PairedTest& test) { return test.differs(); });
    const std::string what = absl::StrCat(across.stage, ", '", across.run, "'");
    if (differs) {
      sentences.push_back(
          absl::StrCat(what, ": ", SummaryOf(across.comparison)));
    } else {
      alike.push_back(absl::StrCat(what, ", ", across.comparison.metric()));
    }
  }
  if (alike.empty()) return sentences;
  sentences.push_back(absl::StrCat(
      "No entry can be told from the one that it was set against: ",
      absl::StrJoin(alike, "; "), "."));
  return sentences;
}

namespace {

void AddFigure(const std::string& name, const std::string& caption,
               std::string svg, ReportSection& section) {
  if (svg.empty()) return;
  section.figures.push_back({name, caption, std::move(svg)});
}

}  // namespace

std::vector<ReportSection> AcrossSections(const RecipeRecord& record) {
  std::vector<ReportSection> sections;
  for (const AcrossRecord& across : record.across) {
    const std::string heading =
        absl::StrCat(across.stage, ": entries side by side");
    if (sections.empty() || sections.back().heading != heading) {
      sections.push_back({.heading = heading});
    }
    ReportSection& section = sections.back();
    section.paragraphs.push_back(
        absl::StrCat("'", across.run, "': ", SummaryOf(across.comparison)));
    absl::StrAppend(&section.verbatim,
                    RenderTrialComparison(across.comparison, kVerbatimWidth),
                    "\n");
    // A picture and a table for the first run and metric; more would be alike.
    if (!section.tables.empty()) continue;
    section.tables.push_back(EntryTable(record, across));
    AddFigure(absl::StrCat(across.stage, "-costs"),
              "Score against trained weights, seconds and peak memory.",
              EntryCostsSvg(record, across), section);
  }
  if (!record.missing.empty()) {
    sections.push_back(
        {.heading = "What could not be tested", .paragraphs = record.missing});
  }
  return sections;
}

namespace {

constexpr double kKept = 0.9;  // of the whole score, as Elsa asks
constexpr double kOneSided95 = 1.645;

// Returns " ± 27.6 %, which is not sure". The seeds of both runs make a ratio
// uncertain.
std::string HowSure(const RelativeScore& kept, const RelativeScore& whole) {
  const double of_whole = kept.share * whole.error;
  const double error = std::sqrt(kept.error * kept.error + of_whole * of_whole);
  if (std::isnan(error)) return "";
  const bool is_sure = kept.share - kOneSided95 * error >= kKept;
  return absl::StrFormat(" ± %.1f %%%s", 100.0 * error,
                         is_sure ? "" : ", which is not sure");
}

// Returns "5 frozen keeps .97 of the score …". Positions count from the run
// that the others are compared with.
std::string KeptSentence(const StudyRecord& record) {
  const auto scores = RelativeScores(record);
  const std::string to = LabelOf(record, kRecipeCompareLabel);
  if (scores.size() < 2 || scores[0].run != to) return "";
  const auto kept = FurthestThatKeeps(scores, kKept);
  if (!kept || kept->run == to) {
    return absl::StrCat("No run keeps 90 % of the ", MetricOfRuns(record),
                        " of '", to, "'.");
  }
  return absl::StrFormat(
      "'%s' is the furthest that keeps 90 %% of the %s of '%s' in the mean: "
      "%.1f %%%s.",
      kept->run, MetricOfRuns(record), to, 100.0 * kept->share,
      HowSure(*kept, scores[0]));
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
  if (RunsOf(study).empty()) say(BestTrialSentence(study));
  say(KeptSentence(study));
  if (study.importance) say(study.importance->verdict());
  if (published != nullptr) {
    for (const std::string& sentence :
         JudgePublished(*published, LabelOf(study, kRecipeCompareLabel),
                        MetricOfRuns(study))) {
      say(sentence);
    }
  }
  if (!RunsOf(study).empty()) say(TimeDoubt(study));
  for (const std::string& warning : study.study.warnings()) say(warning);
  return sentences;
}

namespace {

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

void RunsSection(const StageRecord& stage, const PublishedStage* published,
                 ReportSection& section) {
  const std::string entry = EntryOf(stage);
  section.tables.push_back(RunTable(stage.study, entry, published));
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
  if (!recipe.found.empty()) {
    section.paragraphs.push_back(
        absl::StrCat("What the source found, which is theirs: ", recipe.found));
  }
  if (!recipe.adds.empty()) {
    section.paragraphs.push_back(
        absl::StrCat("What this recipe adds: ", recipe.adds));
  }
  return section;
}

// Returns the first section: the answer to the recipe's question, then the
// result of each stage.
ReportSection VerdictSection(const RecipeRecord& record,
                             const std::optional<Recipe>& recipe) {
  ReportSection section = {.heading = "Verdict"};
  if (std::string answer = AnswerOf(record, recipe); !answer.empty()) {
    section.paragraphs.push_back(std::move(answer));
  }
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

// Returns a list of what `one` makes of each element, a line each.
template <typename All, typename One>
std::string EachJson(const All& all, One one) {
  std::vector<std::string> items;
  items.reserve(all.size());
  for (const auto& each : all) items.push_back(one(each));
  return JsonList(items, JsonLayout::kIndented);
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
  return JsonObject()
      .PutText("name", scale.name)
      .PutText("about", scale.about)
      .Text(JsonLayout::kSpaced);
}

// Begins the JSON of a recipe.
JsonObject RecipeStart(const Recipe& recipe) {
  JsonObject start;
  start.PutText("name", recipe.name)
      .PutText("title", recipe.title)
      .PutText("question", recipe.question)
      .PutText("source", recipe.source)
      .Put("scales", EachJson(recipe.scales, ScaleJson));
  return start;
}

std::string StudyJson(const SurveyedStudy& study) {
  std::vector<std::string> runs;
  runs.reserve(study.study.runs.size());
  for (const StageRun& run : study.study.runs) runs.push_back(run.name);
  return JsonObject()
      .PutText("study", study.study.study.id)
      .PutText("stage", study.study.stage)
      .Put("trials", absl::StrCat(TrialsOf(study)))
      .Put("takes_earlier", study.takes_earlier ? "true" : "false")
      .Put("runs", JsonTexts(runs, JsonLayout::kSpaced))
      .Text(JsonLayout::kSpaced);
}

std::string NeedJson(const MissingNeed& need) {
  return JsonObject()
      .PutText("id", need.id)
      .PutText("kind", need.is_model ? "model" : "data")
      .PutText("stage", need.stage)
      .Text(JsonLayout::kSpaced);
}

std::string SkippedJson(const SurveyedStudy& study) {
  return JsonObject()
      .PutText("study", study.study.study.id)
      .Put("missing", EachJson(study.missing, NeedJson))
      .Text(JsonLayout::kSpaced);
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
    return RecipeStart(recipe).Text(JsonLayout::kSpaced);
  };
  return JsonObject()
             .Put("recipes", EachJson(recipes, whole))
             .Text(JsonLayout::kSpaced) +
         "\n";
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
               {"WHAT", Align::kLeft, 1, false, {}, /*wraps=*/true}});
  std::int64_t trials = 0;
  for (const SurveyedStudy& study : survey.studies) {
    trials += TrialsOf(study);
    const std::size_t runs = study.study.runs.size();
    table.AddRow({study.study.study.id, FormatCount(TrialsOf(study)),
                  runs == 0 ? "" : absl::StrCat(runs), study.study.about});
  }
  absl::StrAppend(&text, table.Render(width), FormatCount(trials),
                  trials == 1 ? " trial in " : " trials in ",
                  survey.studies.size(),
                  survey.studies.size() == 1 ? " study\n" : " studies\n");
  for (const SurveyedStudy& study : survey.skipped) text += SkippedText(study);
  for (const std::string& warning : survey.warnings) {
    text += Line(absl::StrCat("warning: ", warning), width);
  }
  return text;
}

std::string RecipeJson(const Recipe& recipe, const RecipeSurvey& survey) {
  return RecipeStart(recipe)
             .Put("stages", EachJson(survey.studies, StudyJson))
             .Put("skipped", EachJson(survey.skipped, SkippedJson))
             .Put("missing", EachJson(survey.missing, NeedJson))
             .Put("warnings", JsonTexts(survey.warnings, JsonLayout::kIndented))
             .Text(JsonLayout::kIndented) +
         "\n";
}

std::string RenderStage(const StageRecord& stage,
                        const PublishedStage* published, int width) {
  std::string text;
  if (!RunsOf(stage.study).empty()) {
    const ReportTable runs = RunTable(stage.study, "runs", published);
    std::vector<Column> columns;
    columns.reserve(runs.columns.size());
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
