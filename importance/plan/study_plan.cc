// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/study_plan.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/status_macros.h"
#include "importance/depth.h"
#include "importance/fitted_levels.h"
#include "importance/plan/freeze_choice.h"
#include "importance/plan/plan_evidence.h"
#include "importance/plan/plan_savings.h"
#include "importance/plan/plan_search.h"
#include "importance/plan/plan_sentences.h"

namespace frostline {
namespace {

absl::Status CheckRequest(const Space& space, const PlanOptions& options) {
  if (!std::isfinite(options.tolerance) || options.tolerance < 0.0) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("tolerance is ", options.tolerance),
                     "give a part of the score, 0 or more",
                     "options.tolerance");
  }
  const auto& modules = space.modules();
  if (std::any_of(modules.begin(), modules.end(), [](const ModuleBinding& m) {
        return m.parameter.has_value();
      })) {
    return absl::OkStatus();
  }
  return MakeError(ErrorId::kRequestInvalid,
                   "no module of this space takes its rate from a parameter",
                   "plan for a study that searches the rates of modules",
                   "space.modules");
}

// Places in Space::modules(), embeddings first and head last; modules of other
// names stay where the space has them, at the end.
std::vector<std::size_t> ModulesInDepthOrder(const Space& space) {
  std::vector<Parameter> one_each;
  for (const ModuleBinding& binding : space.modules()) {
    one_each.push_back({binding.module, Levels{{0.0}}, std::nullopt});
  }
  std::vector<std::size_t> order;
  for (const int m : DepthOrder(Space(one_each, {}, std::nullopt))) {
    order.push_back(static_cast<std::size_t>(m));
  }
  return order;
}

std::vector<PlannedModule> DescribeModules(const Space& space,
                                           const FittedLevels& fitted,
                                           const Point& point,
                                           const std::vector<Interval>& costs) {
  const std::vector<ModuleRate> rates = space.Rates(point);
  std::vector<PlannedModule> modules;
  for (const std::size_t m : ModulesInDepthOrder(space)) {
    PlannedModule one;
    one.module = rates[m].module;
    one.rate = rates[m].rate;
    one.freeze = one.rate == 0.0;
    one.cost_of_freezing = costs[m];
    one.reason = ReasonFor(space.modules()[m], one, fitted.objective().metric);
    modules.push_back(std::move(one));
  }
  return modules;
}

}  // namespace

absl::StatusOr<StudyPlan> MakePlan(const Space& space,
                                   const std::vector<Objective>& objectives,
                                   const History& history,
                                   const PlanOptions& options) {
  RETURN_IF_ERROR(CheckRequest(space, options));
  ASSIGN_OR_RETURN(const FittedLevels fitted,
                   FitLevels(space, objectives, history, options.evaluate));
  const PlanSearch search(space, fitted);
  const std::size_t best_row = BestRow(fitted);
  const double r2 = fitted.model().ridge().LeftOutR2();
  const bool copies = !ExplainsAnything(fitted.model(), r2);
  const PlanChoice choice =
      copies ? search.choices().OfTrial(best_row)
             : ChooseFrozen(space, fitted, search, options.tolerance);
  StudyPlan plan;
  plan.point = copies ? *fitted.selection().points[best_row]
                      : search.choices().PointOf(choice);
  plan.modules =
      DescribeModules(space, fitted, plan.point,
                      CostsOfFreezing(space, fitted, search, choice));
  plan.best_seen_trial = fitted.trials()[best_row]->number;
  plan.best_seen_score =
      copies ? AverageScore(fitted) : ScoreOfTrial(fitted, search, best_row);
  plan.predicted_score =
      copies ? AverageScore(fitted) : PredictScore(fitted, search, choice);
  const PlanSavings savings =
      EstimateSavings(space, fitted.trials(), plan.point);
  plan.trained_parameters_saved = savings.trained_parameters;
  plan.seconds_saved_share = savings.seconds_share;
  plan.supporting_trials = NearestTrials(fitted, choice);
  if (copies) {
    for (std::size_t k = 0; k < plan.modules.size(); ++k) {
      const std::size_t m = ModulesInDepthOrder(space)[k];
      if (!space.modules()[m].parameter.has_value()) continue;
      plan.modules[k].reason = ReasonToCopy(plan.best_seen_trial);
    }
  }
  plan.warnings = PlanWarnings(fitted, plan, r2, copies);
  return plan;
}

}  // namespace frostline
