// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/study_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/status_macros.h"
#include "importance/plan/chosen_point.h"
#include "importance/plan/module_costs.h"
#include "importance/plan/near_trials.h"
#include "importance/plan/plan_request.h"
#include "importance/plan/plan_savings.h"
#include "importance/plan/plan_sentences.h"
#include "importance/plan/prediction.h"
#include "importance/plan/worth_draws.h"

namespace frostline {
namespace {

constexpr int kDraws = 600;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// The points that a plan is described by, and draws at them.
struct Described {
  std::vector<PlanChoice> points;  // the plan, the best trial, then modules'
  // By module, places of trained, frozen, then of its other rates.
  std::vector<std::vector<std::size_t>> of_module;
  WorthDraws draws;
};

Described Describe(const PlanSearch& search, const PlanChoice& plan) {
  const StudyBelief& belief = search.choices().belief();
  Described described;
  described.points = {plan, belief.ChoiceOf(belief.BestTrial())};
  for (auto& pair : CompareFreezing(search, plan)) {
    std::vector<std::size_t>& places = described.of_module.emplace_back();
    if (!pair.has_value()) continue;
    const auto add = [&](PlanChoice point) {
      places.push_back(described.points.size());
      described.points.push_back(std::move(point));
    };
    add(std::move(pair->trained));
    add(std::move(pair->frozen));
    for (PlanChoice& other : pair->other_rates) add(std::move(other));
  }
  described.draws = belief.Draw(described.points, kDraws);
  return described;
}

// That freezing costs at most the tolerance, against whichever rate is best.
double FreezeProbability(const StudyBelief& belief, const WorthDraws& draws,
                         std::vector<std::size_t> places, double tolerance) {
  const std::size_t frozen = places[1];
  places.erase(places.begin() + 1);
  WorthDraws best_and_frozen;
  for (const std::vector<double>& draw : draws) {
    double most = draw[places[0]];
    for (const std::size_t place : places) most = std::max(most, draw[place]);
    best_and_frozen.push_back({most, draw[frozen]});
  }
  return ChanceOfLoss(belief, best_and_frozen, 0, 1, tolerance);
}

void Advise(const StudyBelief& belief, const Described& described,
            const std::vector<std::size_t>& places, double tolerance,
            PlannedModule& one) {
  const WorthDraws& draws = described.draws;
  one.cost_of_freezing =
      QuantilesOf(LossesOf(belief, draws, places[0], places[1]));
  one.freeze_probability = FreezeProbability(belief, draws, places, tolerance);
  const double worthless =
      ChanceOfLoss(belief, draws, places[0], places[1], tolerance);
  one.advice = Advice::kNotKnown;
  if (one.freeze && one.freeze_probability >= kSureEnough) {
    one.advice = Advice::kFreeze;
  } else if (!one.freeze && worthless <= 1.0 - kSureEnough) {
    one.advice = Advice::kTrain;
  }
}

std::vector<PlannedModule> DescribeModules(const StudyBelief& belief,
                                           const Described& described,
                                           const Point& point,
                                           double tolerance) {
  const Space& space = belief.space();
  const std::vector<ModuleRate> rates = space.Rates(point);
  std::vector<PlannedModule> modules;
  for (const std::size_t m : ModulesInDepthOrder(space)) {
    PlannedModule one;
    one.module = rates[m].module;
    one.rate = rates[m].rate;
    one.freeze = one.rate == 0.0;
    one.advice = Advice::kFixed;
    one.freeze_probability = kUnknown;
    one.cost_of_freezing = {kUnknown, kUnknown, kUnknown, kUnknown, kUnknown};
    const std::vector<std::size_t>& places = described.of_module[m];
    if (!places.empty()) Advise(belief, described, places, tolerance, one);
    one.reason = ReasonFor(space.modules()[m], one, belief.objective().metric,
                           tolerance);
    modules.push_back(std::move(one));
  }
  return modules;
}

void Predict(const StudyBelief& belief, const Described& described,
             const PlanOptions& options, StudyPlan& plan) {
  const Optimism optimism = FindOptimism(belief);
  const std::vector<double> worths = Sobered(described.draws, 0, optimism);
  plan.predicted_score = PredictMean(belief, worths, optimism);
  plan.one_run = PredictRun(belief, worths, optimism, options.evaluation_rows);
  const std::size_t best = belief.BestTrial();
  plan.best_seen_value = belief.SeenScore(best);
  plan.best_seen_trial = belief.selection().trials[best]->number;
  plan.best_seen_score =
      PredictMean(belief, Sobered(described.draws, 1, optimism), optimism);
  plan.at_least_best_probability = ChanceOf(described.draws, 0, 1);
}

}  // namespace

absl::StatusOr<StudyPlan> MakePlan(const Space& space,
                                   const std::vector<Objective>& objectives,
                                   const History& history,
                                   const PlanOptions& options) {
  RETURN_IF_ERROR(CheckPlanRequest(space, options));
  ASSIGN_OR_RETURN(const StudyBelief belief,
                   Believe(space, objectives, history, options.evaluate));
  const PlanSearch search(belief);
  const PlanChoice choice = PlanPoint(search, options.tolerance);
  const Described described = Describe(search, choice);
  StudyPlan plan;
  plan.point = search.choices().PointOf(choice);
  plan.modules =
      DescribeModules(belief, described, plan.point, options.tolerance);
  Predict(belief, described, options, plan);
  const NearTrials near = FindNearTrials(search.choices(), choice);
  plan.nearest_trial = near.nearest;
  plan.differs_in = near.differs_in;
  plan.supporting_trials = near.supporting;
  const PlanSavings savings =
      EstimateSavings(space, belief.selection().trials, plan.point);
  plan.trained_parameters_saved = savings.trained_parameters;
  plan.seconds_saved_share = savings.seconds_share;
  const bool copies = described.points[0] == described.points[1];
  plan.verdict = PlanVerdict(belief, plan, copies);
  plan.warnings = PlanWarnings(belief, plan, copies);
  return plan;
}

}  // namespace frostline
