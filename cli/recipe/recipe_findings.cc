// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe/recipe_findings.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/recipe/published_judge.h"
#include "cli/recipe/recipe_stage.h"
#include "cli/recipe/run_figures.h"
#include "cli/recipe/run_table.h"
#include "cli/report/trial_scores.h"
#include "cli/view/comparison_summary.h"

namespace frostline::cli {
namespace {

constexpr double kKept = 0.9;  // of the whole score, as Elsa asks
constexpr double kOneSided95 = 1.645;

// " ± 27.6 %, which is not sure": the seeds of both runs make a ratio
// uncertain.
std::string HowSure(const RelativeScore& kept, const RelativeScore& whole) {
  const double error = std::hypot(kept.error, kept.share * whole.error);
  if (std::isnan(error)) return "";
  const bool is_sure = kept.share - kOneSided95 * error >= kKept;
  return absl::StrFormat(" ± %.1f %%%s", 100.0 * error,
                         is_sure ? "" : ", which is not sure");
}

// "5 frozen keeps .97 of the score …", where places count from the run that
// the others are compared with.
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
