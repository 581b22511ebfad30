// SPDX-License-Identifier: Apache-2.0
#include "importance/evaluator.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "importance/cube/cube_evaluator.h"
#include "importance/forest/fanova.h"
#include "importance/measure/selection.h"
#include "importance/measure/survival.h"
#include "importance/mixture/fanova_evaluator.h"
#include "importance/ped/ped_anova.h"
#include "importance/report.h"

namespace frostline::importance {
namespace {

constexpr int kMaxTrees = 1024;
constexpr int kMaxBootstraps = 1024;

struct EvaluatorKind {
  const char* name;
  absl::StatusOr<Report> (*evaluate)(const Space& space,
                                     const Selection& selection,
                                     const EvaluateOptions& options);
  // Is handed all trials, whatever the top_quantile.
  bool takes_all_trials = false;
  bool knows_subsets = false;
};

// Sorted by name. A new evaluator is one row here and one pair of files.
constexpr std::array kEvaluators = {
    EvaluatorKind{
        .name = "fanova", .evaluate = EvaluateFanova, .knows_subsets = true},
    EvaluatorKind{"fanova-optuna", EvaluateFanovaOptuna},
    EvaluatorKind{
        .name = "forest", .evaluate = EvaluateForest, .knows_subsets = true},
    EvaluatorKind{
        .name = "levels", .evaluate = EvaluateLevels, .knows_subsets = true},
    EvaluatorKind{"mdi", EvaluateMdi},
    EvaluatorKind{"ped-anova", EvaluatePedAnova, true},
};

absl::Status OutOfRange(const std::string& name, double value,
                        const std::string& range) {
  return MakeError(ErrorId::kRequestInvalid, absl::StrCat(name, " is ", value),
                   absl::StrCat("give ", range),
                   absl::StrCat("options.", name));
}

absl::Status CheckOptions(const EvaluateOptions& options) {
  RETURN_IF_ERROR(CheckTopQuantile(options.top_quantile));
  if (options.trees < 1 || options.trees > kMaxTrees) {
    return OutOfRange("trees", options.trees,
                      absl::StrCat("a number from 1 to ", kMaxTrees));
  }
  if (options.bootstraps < 0 || options.bootstraps > kMaxBootstraps) {
    return OutOfRange("bootstraps", options.bootstraps,
                      absl::StrCat("a number from 0 to ", kMaxBootstraps));
  }
  return absl::OkStatus();
}

absl::Status CheckKnowsSubsets(const EvaluatorKind& kind,
                               const EvaluateOptions& options) {
  if (options.subsets.empty() || kind.knows_subsets) return absl::OkStatus();
  std::vector<std::string> others;
  for (const EvaluatorKind& other : kEvaluators) {
    if (other.knows_subsets) others.push_back(other.name);
  }
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat(kind.name, " knows no sets of parameters"),
                   absl::StrCat("take one of these evaluators: ",
                                absl::StrJoin(others, ", ")),
                   "options.subsets");
}

// Checks for an evaluator whose own quantiles are of the target.
absl::Status CheckBestBy(const EvaluateOptions& options) {
  if (options.best_by.empty() || options.best_by == options.target) {
    return absl::OkStatus();
  }
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat(options.evaluator, " takes the best trials by ",
                                "the target, not by ", options.best_by),
                   "leave best_by out, or take another evaluator",
                   "options.best_by");
}

}  // namespace

absl::StatusOr<Report> Evaluate(const Space& space,
                                const std::vector<Objective>& objectives,
                                const History& history,
                                const EvaluateOptions& options) {
  for (const EvaluatorKind& kind : kEvaluators) {
    if (options.evaluator != kind.name) continue;
    RETURN_IF_ERROR(CheckOptions(options));
    RETURN_IF_ERROR(CheckKnowsSubsets(kind, options));
    RETURN_IF_ERROR(CheckSubsets(options.subsets, space.parameters().size()));
    EvaluateOptions which = options;
    if (kind.takes_all_trials) {
      RETURN_IF_ERROR(CheckBestBy(options));
      which.top_quantile = 1.0;
    }
    ASSIGN_OR_RETURN(Selection selection,
                     SelectTrials(space, objectives, history, which));
    RETURN_IF_ERROR(CheckStop(options.stop));
    auto out_of_range = FindOutOfRange(selection);
    const double noise_variance = NoiseVariance(selection);
    TakeOff(FindSharedLuck(selection), selection);
    ASSIGN_OR_RETURN(Report report, kind.evaluate(space, selection, options));
    RETURN_IF_ERROR(CheckStop(options.stop));
    report.noise_variance = noise_variance;
    if (const auto split = FindSurvivalSplit(space, selection)) {
      report.survival = split->sentence;
    }
    if (out_of_range.has_value()) {
      report.warnings.insert(report.warnings.begin(), *std::move(out_of_range));
    }
    for (ReportWarning& off : FindOffScaleWarnings(selection)) {
      report.warnings.push_back(std::move(off));
    }
    if (auto warning = FindDiverged(selection, report.diverged_inform)) {
      report.warnings.push_back(*std::move(warning));
    }
    return report;
  }
  return MakeError(
      ErrorId::kEvaluatorUnknown,
      absl::StrCat("there is no evaluator \"", options.evaluator, "\""),
      absl::StrCat("there are: ", absl::StrJoin(EvaluatorNames(), ", ")),
      "options.evaluator");
}

std::vector<std::string> EvaluatorNames() {
  std::vector<std::string> names;
  names.reserve(kEvaluators.size());
  for (const EvaluatorKind& kind : kEvaluators) names.push_back(kind.name);
  return names;
}

}  // namespace frostline::importance
