// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/study_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "importance/measure/depth.h"
#include "importance/plan/plan_savings.h"
#include "importance/plan/plan_search.h"
#include "importance/plan/plan_sentences.h"
#include "importance/plan/study_belief.h"

namespace frostline::importance {
namespace {

// One more than a round number: quantiles are draws then, and the 80 % interval
// ends at the tolerance where the probability is kSureEnough.
constexpr int kStudyDraws = 601;
constexpr double kUnknownWorth = std::numeric_limits<double>::quiet_NaN();

// The plan was picked as it is: what is taken off points that are picked is
// taken off the side of its choice, so that luck alone is no advice. Luck is at
// most all of a gain: without it the other side is as good, not better.
void SoberChoice(const Optimism& optimism, std::size_t chosen,
                 WorthDraws& draws) {
  WorthDraws gains;
  for (const auto& draw : draws) {
    gains.push_back({draw[chosen] - draw[1 - chosen]});
  }
  const double off = std::min(optimism.lift * DeviationOf(gains, 0),
                              std::max(MeanOf(gains, 0), 0.0));
  for (std::vector<double>& draw : draws) draw[chosen] -= off;
}

// Probability, cost and interval are of the same draws of the same two points,
// so that none of them can say what another denies.
void Advise(const StudyBelief& belief, const TrainedAndFrozen& pair,
            const Optimism& optimism, double tolerance, PlannedModule& one) {
  WorthDraws draws = belief.Draw({pair.frozen, pair.trained}, kStudyDraws);
  const std::size_t chosen = one.freeze ? 0 : 1;
  SoberChoice(optimism, chosen, draws);
  FlattenBeside(chosen, optimism, draws);
  const std::vector<double> costs = LossesOf(belief, draws, 1, 0);
  one.cost_of_freezing = QuantilesOf(costs);
  one.freeze_probability = ShareWithin(costs, tolerance);
  one.advice = Advice::kNotKnown;
  if (one.freeze && one.freeze_probability >= kSureEnough) {
    one.advice = Advice::kFreeze;
  } else if (!one.freeze && one.freeze_probability <= 1.0 - kSureEnough) {
    one.advice = Advice::kTrain;
  }
}

// Returns a module about which nothing can be said.
PlannedModule Bare(const PlanChoices& choices, const ModuleRate& rate,
                   std::size_t module) {
  const bool is_searched =
      choices.space().modules()[module].parameter.has_value();
  PlannedModule one;
  one.module = rate.module;
  one.rate = rate.rate;
  one.freeze = rate.rate == 0.0;
  one.advice = is_searched && !choices.IsKnown(module) ? Advice::kNotKnown
                                                       : Advice::kFixed;
  one.freeze_probability = kUnknownWorth;
  one.cost_of_freezing = {kUnknownWorth, kUnknownWorth, kUnknownWorth,
                          kUnknownWorth, kUnknownWorth};
  return one;
}

std::vector<PlannedModule> DescribeModules(const PlanBasis& basis,
                                           const PlanChoice& plan,
                                           const Point& point, double tolerance,
                                           const std::stop_token& stop) {
  const StudyBelief& belief = basis.belief();
  const Space& space = belief.space();
  const std::vector<ModuleRate> rates = space.Rates(point);
  const auto pairs = CompareFreezing(basis.search(), plan);
  std::vector<PlannedModule> modules;
  for (const std::size_t m : ModulesInDepthOrder(space)) {
    if (stop.stop_requested()) break;
    PlannedModule one = Bare(basis.choices(), rates[m], m);
    if (pairs[m].has_value()) {
      Advise(belief, *pairs[m], basis.optimism(), tolerance, one);
    }
    one.reason = ReasonFor(space.modules()[m], one, belief.objective().metric,
                           tolerance);
    modules.push_back(std::move(one));
  }
  return modules;
}

void PredictPoint(const PlanBasis& basis, const PlanChoice& choice,
                  const PlanOptions& options, StudyPlan& plan) {
  const StudyBelief& belief = basis.belief();
  const Optimism& optimism = basis.optimism();
  const std::size_t best = belief.BestTrial();
  const WorthDraws draws = DrawBesideBest(belief, choice);
  const std::vector<double> worths = WithoutOptimism(draws, 0, optimism);
  plan.predicted_score = PredictMean(belief, worths, optimism);
  plan.one_run = PredictRun(belief, worths, optimism, options.evaluation_rows);
  plan.best_seen_value = belief.SeenScore(best);
  plan.best_seen_trial = belief.selection().trials[best]->number;
  plan.best_seen_score =
      PredictMean(belief, WithoutOptimism(draws, 1, optimism), optimism);
  plan.at_least_best_probability = ChanceOf(draws, 0, 1);
}

}  // namespace

absl::StatusOr<StudyPlan> MakePlan(const PlanBasis& basis,
                                   const PlanOptions& options) {
  const StudyBelief& belief = basis.belief();
  RETURN_IF_ERROR(CheckPlanRequest(belief.space(), options));
  const PlanChoice choice = PlanPoint(basis.search(), options.tolerance);
  RETURN_IF_ERROR(CheckStop(options.evaluate.stop));
  StudyPlan plan;
  plan.point = basis.choices().PointOf(choice);
  plan.modules = DescribeModules(basis, choice, plan.point, options.tolerance,
                                 options.evaluate.stop);
  RETURN_IF_ERROR(CheckStop(options.evaluate.stop));
  PredictPoint(basis, choice, options, plan);
  const NearTrials near = FindNearTrials(basis.choices(), choice);
  plan.nearest_trial = near.nearest;
  plan.differs_in = near.differs_in;
  plan.supporting_trials = near.supporting;
  const PlanSavings savings =
      EstimateSavings(belief.space(), belief.selection().trials, plan.point);
  plan.trained_parameters_saved = savings.trained_parameters;
  plan.seconds_saved_share = savings.seconds_share;
  const bool copies = choice == belief.ChoiceOf(belief.BestTrial());
  plan.verdict = PlanVerdict(belief, plan, copies);
  plan.warnings = PlanWarnings(basis, plan, copies);
  return plan;
}

absl::StatusOr<StudyPlan> MakePlan(const Space& space,
                                   const std::vector<Objective>& objectives,
                                   const History& history,
                                   const PlanOptions& options) {
  ASSIGN_OR_RETURN(const auto basis,
                   MakePlanBasis(space, objectives, history, options));
  return MakePlan(*basis, options);
}

PlanBasis::PlanBasis(StudyBelief belief, const std::stop_token& stop)
    : belief_(std::move(belief)),
      search_(belief_),
      left_out_(belief_.surrogate().LeftOut(stop)),
      optimism_(FindOptimism(belief_, left_out_)) {}

absl::StatusOr<std::unique_ptr<const PlanBasis>> MakePlanBasis(
    const Space& space, const std::vector<Objective>& objectives,
    const History& history, const PlanOptions& options) {
  RETURN_IF_ERROR(CheckPlanRequest(space, options));
  ASSIGN_OR_RETURN(StudyBelief belief,
                   Believe(space, objectives, history, options.evaluate));
  auto basis = std::make_unique<const PlanBasis>(std::move(belief),
                                                 options.evaluate.stop);
  RETURN_IF_ERROR(CheckStop(options.evaluate.stop));
  return basis;
}

absl::Status CheckPlanRequest(const Space& space, const PlanOptions& options) {
  if (!std::isfinite(options.tolerance) || options.tolerance < 0.0) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("tolerance is ", options.tolerance),
                     "give a part of the score, 0 or more",
                     "options.tolerance");
  }
  if (options.evaluation_rows < 0) {
    return MakeError(
        ErrorId::kRequestInvalid,
        absl::StrCat("evaluation_rows is ", options.evaluation_rows),
        "give a number of rows, or 0 where it is not known",
        "options.evaluation_rows");
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

}  // namespace frostline::importance
