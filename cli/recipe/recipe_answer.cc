// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe/recipe_answer.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/recipe/entry_table.h"
#include "cli/recipe/recipe_stage.h"
#include "cli/recipe/run_table.h"
#include "cli/view/format.h"
#include "study/objective.h"

namespace frostline::cli {
namespace {

constexpr double kWorthHaving = 0.9;  // of the score, as in Elsa
constexpr double kLeastSaved = 0.005;

using Stages = std::vector<const StageRecord*>;

std::string EntryName(const StageRecord& stage) {
  const std::string entry = LabelOf(stage.study, kRecipeEntryLabel);
  return entry.empty() ? LastPart(stage.study.study.name()) : entry;
}

// Returns "1.1 points" of a metric that ends at 1, else the plain number.
std::string BareAmount(const std::string& metric, double amount) {
  return PresumedRange(metric).hi == 1.0
             ? absl::StrFormat("%.1f", std::round(1000.0 * amount) / 10.0 + 0.0)
             : FormatNumber(amount);
}
std::string AnswerAmount(const std::string& metric, double amount) {
  return absl::StrCat(BareAmount(metric, amount),
                      PresumedRange(metric).hi == 1.0 ? " points" : "");
}

// Returns " on none of 4 data sets", or "" of a single one.
std::string OnSoMany(const std::string& some, std::size_t all) {
  return all < 2 ? "" : absl::StrCat(" on ", some, " of ", all, " data sets");
}

// A run beside the one that it is compared with. `price` is what its score is
// worse by.
struct PricedRun {
  std::string name;
  TimeSaved saved;
  double price = 0.0;
  double lo = 0.0;
  double hi = 0.0;
  bool differs = false;
  double kept = 0.0;  // of the score
};

std::vector<PricedRun> PricedRunsOf(const StageRecord& stage) {
  std::vector<PricedRun> priced;
  if (!stage.comparison) return priced;
  const double sign =
      stage.comparison->direction() == v1::DIRECTION_MINIMIZE ? 1.0 : -1.0;
  const std::vector<RunTrials> runs = RunsOf(stage.study);
  const std::vector<TimeSaved> saved = TimeSavedBy(stage.study);
  const std::string metric = MetricOfRuns(stage.study);
  for (const v1::PairedTest& test : stage.comparison->tests()) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (runs[i].name != test.second() || std::isnan(saved[i].share)) continue;
      const double own = MetricOf(runs[i], metric).mean;
      const double whole = own - test.difference();
      const double one = sign * test.lo95();
      const double other = sign * test.hi95();
      priced.push_back({runs[i].name, saved[i], sign * test.difference(),
                        std::min(one, other), std::max(one, other),
                        test.differs(),
                        sign < 0.0 && whole > 0.0 ? own / whole : 1.0});
    }
  }
  return priced;
}

std::string PriceText(const PricedRun& run, const std::string& metric) {
  std::string text = absl::StrCat(run.price < 0.0 ? "gains " : "costs ",
                                  AnswerAmount(metric, std::abs(run.price)),
                                  " of ", PeoplesName(metric));
  if (!std::isnan(run.lo + run.hi)) {
    // As a price, so that a gain's interval is turned around.
    const double sign = run.price < 0.0 ? -1.0 : 1.0;
    const double lo = std::min(sign * run.lo, sign * run.hi);
    const double hi = std::max(sign * run.lo, sign * run.hi);
    absl::StrAppend(&text, " (95 %: ", BareAmount(metric, lo), " to ",
                    BareAmount(metric, hi), ")");
  }
  if (!run.differs) text += ", which cannot be told from nothing";
  return text;
}

std::string SavedText(const PricedRun& run, const StageRecord& stage) {
  const std::string error =
      std::isnan(run.saved.error)
          ? ""
          : absl::StrFormat(" ± %.1f", 100.0 * run.saved.error);
  return absl::StrFormat(
      "'%s' saves %.1f %%%s of the %s time and %s", run.name,
      100.0 * run.saved.share, error,
      CountsProcessor(stage.study) ? "processor" : "training",
      PriceText(run, MetricOfRuns(stage.study)));
}

// Returns what the run that saves most without a visible loss saves, and what
// more can be saved for a loss of less than a tenth of the score.
std::string SavedBy(const StageRecord& stage) {
  const PricedRun* free = nullptr;
  const PricedRun* dear = nullptr;
  const std::vector<PricedRun> runs = PricedRunsOf(stage);
  for (const PricedRun& run : runs) {
    if (!(run.saved.share > kLeastSaved) || run.kept < kWorthHaving) continue;
    const PricedRun*& most = run.differs && run.price > 0.0 ? dear : free;
    if (most == nullptr || run.saved.share > most->saved.share) most = &run;
  }
  const bool is_more =
      dear != nullptr &&
      (free == nullptr || dear->saved.share > free->saved.share);
  std::vector<std::string> parts;
  if (free != nullptr) parts.push_back(SavedText(*free, stage));
  if (is_more) parts.push_back(SavedText(*dear, stage));
  if (parts.empty() && !runs.empty()) {
    return "no run saves time and keeps nine tenths of the score";
  }
  return absl::StrJoin(parts, ", and ");
}

// Returns "best found (+1.5 points)" of the runs that beat the first for sure.
std::string BetterRuns(const StageRecord& stage) {
  std::vector<std::string> better;
  for (const PricedRun& run : PricedRunsOf(stage)) {
    if (!run.differs || run.price >= 0.0) continue;
    better.push_back(
        absl::StrCat("'", run.name, "' (+",
                     AnswerAmount(MetricOfRuns(stage.study), -run.price), ")"));
  }
  return absl::StrJoin(better, ", ");
}

std::string BetterAnswer(const Stages& stages) {
  std::vector<std::string> better;
  double most = 0.0;
  double visible = 0.0;
  for (const StageRecord* stage : stages) {
    if (const std::string runs = BetterRuns(*stage); !runs.empty()) {
      better.push_back(absl::StrCat(EntryName(*stage), ": ", runs));
    }
    for (const PricedRun& run : PricedRunsOf(*stage)) {
      most = std::max(most, -run.price);
    }
    if (!stage->comparison) continue;
    for (const v1::PairedTest& test : stage->comparison->tests()) {
      visible = std::fmax(visible, test.smallest_difference());
    }
  }
  const std::string metric = MetricOfRuns(stages[0]->study);
  const std::string to = LabelOf(stages[0]->study, kRecipeCompareLabel);
  if (better.empty()) {
    return absl::StrCat("No setting beats '", to, "' for sure",
                        OnSoMany("none", stages.size()), ": the most is ",
                        AnswerAmount(metric, most), " of ", PeoplesName(metric),
                        " more, where ", AnswerAmount(metric, visible),
                        " would surely have been seen.");
  }
  return absl::StrCat("'", to, "' is beaten for sure",
                      OnSoMany(absl::StrCat(better.size()), stages.size()),
                      ": ", absl::StrJoin(better, "; "), ".");
}

std::string KeptAnswer(const Stages& stages) {
  std::vector<std::string> parts;
  std::int64_t layers = 0;
  for (const StageRecord* stage : stages) {
    const auto kept =
        FurthestThatKeeps(RelativeScores(stage->study), kWorthHaving);
    layers = std::max<std::int64_t>(layers,
                                    stage->study.study.spec().model().layers());
    parts.push_back(absl::StrCat(EntryName(*stage), " ",
                                 kept ? FormatNumber(kept->at) : "none"));
  }
  return absl::StrCat(
      "So many of the first ", layers,
      " layers can stay as they were pretrained before a tenth of the score is "
      "lost, in the mean over seeds: ",
      absl::StrJoin(parts, ", "), ".");
}

// Returns "english: …; naija: …." with the text of each stage that has one.
std::string ForEach(const Stages& stages,
                    std::string (*text_of)(const StageRecord&)) {
  std::vector<std::string> parts;
  for (const StageRecord* stage : stages) {
    const std::string text = text_of(*stage);
    if (text.empty()) continue;
    parts.push_back(
        stages.size() > 1 ? absl::StrCat(EntryName(*stage), ": ", text) : text);
  }
  if (parts.empty()) return "";
  std::string all = absl::StrJoin(parts, "; ");
  if (stages.size() == 1)
    all[0] = absl::ascii_toupper(static_cast<unsigned char>(all[0]));
  if (!all.ends_with('.')) all += '.';
  return all;
}

std::string PlanText(const StageRecord& stage) {
  return stage.study.plan ? stage.study.plan->verdict() : "";
}

// Returns the answer of the first comparison of entries that has one.
std::string RivalsAnswer(const RecipeRecord& record,
                         const RecipeAnswer& answer) {
  for (const AcrossRecord& across : record.across) {
    if (std::ranges::count(answer.stages, across.stage) == 0) continue;
    std::string text = EntryAnswer(across);
    if (!text.empty()) return text;
  }
  return "";
}

Stages StagesOf(const RecipeRecord& record,
                const std::optional<RecipeAnswer>& answer) {
  Stages stages;
  for (const StageRecord& stage : record.stages) {
    const std::string name = LabelOf(stage.study, kRecipeStageLabel);
    const bool is_asked = answer
                              ? std::ranges::count(answer->stages, name) > 0
                              : stage.comparison.has_value() && stages.empty();
    if (is_asked) stages.push_back(&stage);
  }
  return stages;
}

}  // namespace

std::string AnswerOf(const RecipeRecord& record,
                     const std::optional<Recipe>& recipe) {
  const std::optional<RecipeAnswer> answer =
      recipe ? recipe->answer : std::nullopt;
  const Stages stages = StagesOf(record, answer);
  if (stages.empty()) return "";
  switch (answer ? answer->as : RecipeAnswer::As::kSaved) {
    case RecipeAnswer::As::kSaved:
      return ForEach(stages, SavedBy);
    case RecipeAnswer::As::kBetter:
      return BetterAnswer(stages);
    case RecipeAnswer::As::kKept:
      return KeptAnswer(stages);
    case RecipeAnswer::As::kPlan:
      return ForEach(stages, PlanText);
    case RecipeAnswer::As::kRivals:
      return RivalsAnswer(record, *answer);
  }
  return "";
}

}  // namespace frostline::cli
