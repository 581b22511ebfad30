// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe/recipe_findings.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/recipe/recipe_stage.h"
#include "cli/recipe/run_table.h"
#include "cli/report/trial_scores.h"
#include "cli/term/table.h"
#include "cli/view/comparison_view.h"
#include "cli/view/format.h"
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

std::string JudgeSentence(const std::string& run, double value,
                          const std::string& to, double of_to,
                          std::int64_t examples) {
  const double difference = value - of_to;
  const double least = LeastVisibleDifference(value, of_to, examples);
  const char* const verdict =
      std::abs(difference) >= least
          ? "more than the choice of examples makes by chance"
          : "not to be told from chance";
  return absl::StrFormat(
      "Published of '%s': %s, which is %.4f %s '%s'; on %s examples two runs "
      "that are equally good differ by %.4f or more once in twenty, so this is "
      "%s.",
      run, FormatNumber(value), std::abs(difference),
      difference < 0.0 ? "below" : "above", to, FormatCount(examples), least,
      verdict);
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
  for (const auto& [run, metrics] : published.runs) {
    const double* const value = Find(metrics, metric);
    if (run == to || value == nullptr) continue;
    if (std::isnan(
            LeastVisibleDifference(*value, *of_to, published.examples))) {
      continue;
    }
    sentences.push_back(
        JudgeSentence(run, *value, to, *of_to, published.examples));
  }
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
  const double error = std::hypot(kept.error, kept.share * whole.error);
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
  for (const std::string& warning : study.study.warnings()) say(warning);
  return sentences;
}

}  // namespace frostline::cli
