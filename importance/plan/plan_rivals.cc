// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "importance/plan/chosen_point.h"
#include "importance/plan/module_costs.h"
#include "importance/plan/plan_basis.h"
#include "importance/plan/plan_questions.h"
#include "importance/plan/plan_request.h"
#include "importance/plan/prediction.h"

namespace frostline::importance {
namespace {

// The pooler, the head, or one of several tasks'.
bool StandsOnTheEncoder(const std::string& module) {
  return module == "pooler" || module == "head" || module.starts_with("head.");
}

// All modules that can be switched trained, or all but the head frozen.
std::optional<PlanChoice> AllOf(const PlanSearch& search,
                                const PlanChoice& plan, bool trained) {
  const auto& modules = search.choices().space().modules();
  const auto pairs = CompareFreezing(search, plan);
  Demands demands(modules.size(), Demand::kAny);
  for (std::size_t m = 0; m < modules.size(); ++m) {
    if (!pairs[m].has_value()) continue;
    if (trained) {
      demands[m] = Demand::kTrained;
    } else if (!StandsOnTheEncoder(modules[m].module)) {
      demands[m] = Demand::kFrozen;
    }
  }
  return search.BestFrom(plan, demands);
}

struct NamedPoint {
  std::string name;
  PlanChoice choice;
};

std::vector<NamedPoint> FindRivals(const PlanSearch& search,
                                   const PlanChoice& plan) {
  const StudyBelief& belief = search.choices().belief();
  std::vector<NamedPoint> rivals = {{"plan", plan}};
  const auto add = [&rivals](std::string name,
                             std::optional<PlanChoice> choice) {
    if (!choice.has_value()) return;
    for (const NamedPoint& other : rivals) {
      if (other.choice == *choice) return;
    }
    rivals.push_back({std::move(name), *std::move(choice)});
  };
  add("best trial", belief.ChoiceOf(belief.BestTrial()));
  add("all trained", AllOf(search, plan, true));
  add("head only", AllOf(search, plan, false));
  return rivals;
}

}  // namespace

absl::StatusOr<std::vector<Rival>> PlanRivals(const PlanBasis& basis,
                                              const PlanOptions& options) {
  const StudyBelief& belief = basis.belief();
  const Optimism& optimism = basis.optimism();
  RETURN_IF_ERROR(CheckPlanRequest(belief.space(), options));
  const PlanChoice plan = PlanPoint(basis.search(), options.tolerance);
  const PlanChoice best = belief.ChoiceOf(belief.BestTrial());
  std::vector<Rival> rivals;
  for (const NamedPoint& one : FindRivals(basis.search(), plan)) {
    RETURN_IF_ERROR(CheckStop(options.evaluate.stop));
    // As MakePlan draws them, so that plan and rivals are told alike.
    const bool is_best = one.choice == best;
    const WorthDraws draws =
        DrawBesideBest(belief, is_best ? plan : one.choice);
    const std::vector<double> worths =
        WithoutOptimism(draws, is_best && plan != best ? 1 : 0, optimism);
    rivals.push_back(
        {one.name, basis.choices().PointOf(one.choice),
         PredictMean(belief, worths, optimism),
         PredictRun(belief, worths, optimism, options.evaluation_rows)});
  }
  return rivals;
}

absl::StatusOr<std::vector<Rival>> PlanRivals(
    const Space& space, const std::vector<Objective>& objectives,
    const History& history, const PlanOptions& options) {
  ASSIGN_OR_RETURN(const auto basis,
                   MakePlanBasis(space, objectives, history, options));
  return PlanRivals(*basis, options);
}

}  // namespace frostline::importance
