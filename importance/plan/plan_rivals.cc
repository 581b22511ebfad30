// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "importance/plan/chosen_point.h"
#include "importance/plan/module_costs.h"
#include "importance/plan/plan_questions.h"
#include "importance/plan/plan_request.h"
#include "importance/plan/prediction.h"

namespace frostline {
namespace {

constexpr int kDraws = 600;

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
    } else if (modules[m].module != "head" && modules[m].module != "pooler") {
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

absl::StatusOr<std::vector<Rival>> PlanRivals(
    const Space& space, const std::vector<Objective>& objectives,
    const History& history, const PlanOptions& options) {
  RETURN_IF_ERROR(CheckPlanRequest(space, options));
  ASSIGN_OR_RETURN(const StudyBelief belief,
                   Believe(space, objectives, history, options.evaluate));
  const PlanSearch search(belief);
  const std::vector<NamedPoint> points =
      FindRivals(search, PlanPoint(search, options.tolerance));
  std::vector<PlanChoice> choices;
  choices.reserve(points.size());
  for (const NamedPoint& one : points) choices.push_back(one.choice);
  const WorthDraws draws = belief.Draw(choices, kDraws);
  const Optimism optimism = FindOptimism(belief);
  std::vector<Rival> rivals;
  for (std::size_t p = 0; p < points.size(); ++p) {
    const std::vector<double> worths = Sobered(draws, p, optimism);
    rivals.push_back(
        {points[p].name, search.choices().PointOf(points[p].choice),
         PredictMean(belief, worths, optimism),
         PredictRun(belief, worths, optimism, options.evaluation_rows)});
  }
  return rivals;
}

}  // namespace frostline
