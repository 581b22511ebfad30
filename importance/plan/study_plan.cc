// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/study_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "importance/plan/plan_search.h"
#include "importance/plan/study_belief.h"
#include "importance/report.h"
#include "surrogate/influence.h"

namespace frostline::importance {
namespace {

constexpr double kSingular = 1e-9;
constexpr double kDecided = 1e-6;

using Matrix = std::vector<std::vector<double>>;

// Eliminates a symmetric matrix with c beside it (Gauss and Jordan), always by
// the largest pivot that is left. Returns which rows had one.
std::vector<bool> Eliminate(Matrix& g, std::vector<double>& c) {
  const std::size_t n = c.size();
  double size = 0.0;
  for (std::size_t i = 0; i < n; ++i) size = std::max(size, g[i][i]);
  std::vector<bool> used(n, false);
  for (std::size_t step = 0; step < n; ++step) {
    std::size_t best = n;
    for (std::size_t i = 0; i < n; ++i) {
      if (!used[i] && (best == n || g[i][i] > g[best][best])) best = i;
    }
    if (!(g[best][best] > kSingular * size)) break;
    used[best] = true;
    for (std::size_t i = 0; i < n; ++i) {
      const double factor = g[i][best] / g[best][best];
      if (i == best || factor == 0.0) continue;
      for (std::size_t j = 0; j < n; ++j) g[i][j] -= factor * g[best][j];
      c[i] -= factor * c[best];
    }
  }
  return used;
}

}  // namespace

SingularSquares::SingularSquares(std::vector<std::vector<double>> rows,
                                 std::vector<double> targets) {
  const std::size_t n = rows.front().size();
  gram_.assign(n, std::vector<double>(n, 0.0));
  std::vector<double> products(n, 0.0);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t i = 0; i < n; ++i) {
      if (rows[row][i] == 0.0) continue;
      products[i] += rows[row][i] * targets[row];
      for (std::size_t j = 0; j < n; ++j) {
        gram_[i][j] += rows[row][i] * rows[row][j];
      }
    }
  }
  Matrix g = gram_;
  coefficients_ = products;
  const std::vector<bool> used = Eliminate(g, coefficients_);
  freedom_ = static_cast<double>(rows.size());
  for (std::size_t i = 0; i < n; ++i) {
    coefficients_[i] = used[i] ? coefficients_[i] / g[i][i] : 0.0;
    freedom_ -= used[i] ? 1.0 : 0.0;
  }
  for (std::size_t row = 0; row < rows.size(); ++row) {
    double left = targets[row];
    for (std::size_t i = 0; i < n; ++i) left -= rows[row][i] * coefficients_[i];
    noise_ += left * left / std::max(freedom_, 1.0);
  }
}

std::optional<std::vector<double>> SingularSquares::Solve(
    std::vector<double> c) const {
  Matrix g = gram_;
  const std::vector<bool> used = Eliminate(g, c);
  for (std::size_t i = 0; i < c.size(); ++i) {
    if (!used[i] && std::abs(c[i]) > kDecided) return std::nullopt;
    c[i] = used[i] ? c[i] / g[i][i] : 0.0;
  }
  return c;
}

std::optional<SingularSquares::Sum> SingularSquares::Estimate(
    const std::vector<double>& weights) const {
  const auto solved = Solve(weights);
  if (!solved.has_value()) return std::nullopt;
  Sum sum;
  double variance = 0.0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    sum.value += weights[i] * coefficients_[i];
    variance += weights[i] * (*solved)[i];
  }
  sum.error = std::sqrt(std::max(noise_ * variance, 0.0));
  return sum;
}

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
// Larger standard errors than these are no answer. That of a weight is in parts
// of the weight, that of a share of seconds is absolute.
constexpr double kMaxWeightError = 0.02;
constexpr double kMaxShareError = 0.1;
constexpr double kLeastFreedom = 3.0;

// Which modules each trial froze, as columns: first ones, then a column for
// each set of modules that are always frozen together.
struct Design {
  std::vector<std::vector<double>> rows;
  std::vector<double> saved;  // weights of what the plan saves
  std::vector<double> taken;  // and of what it takes
  bool is_decided = true;
};

Design MakeDesign(const Space& space, const std::vector<const Point*>& points,
                  const Point& plan) {
  Design design;
  design.rows.assign(points.size(), {1.0});
  design.saved = {0.0};
  design.taken = {1.0};
  std::map<std::vector<bool>, bool> in_plan;  // pattern: frozen in the plan
  for (std::size_t m = 0; m < space.modules().size(); ++m) {
    const ModuleBinding& binding = space.modules()[m];
    if (!binding.parameter.has_value() && binding.fixed_rate == 0.0 &&
        !binding.decay_steps.has_value()) {
      continue;
    }
    std::vector<bool> pattern;
    pattern.reserve(points.size());
    for (const Point* const point : points) {
      pattern.push_back(space.IsFrozen(m, *point));
    }
    const bool frozen = space.IsFrozen(m, plan);
    const auto [seen, is_new] = in_plan.emplace(pattern, frozen);
    if (!is_new) {
      // Their sum tells nothing about a part of them.
      design.is_decided = design.is_decided && seen->second == frozen;
      continue;
    }
    design.saved.push_back(frozen ? -1.0 : 0.0);
    design.taken.push_back(frozen ? 1.0 : 0.0);
    for (std::size_t row = 0; row < points.size(); ++row) {
      design.rows[row].push_back(pattern[row] ? 1.0 : 0.0);
    }
  }
  return design;
}

double SavedAmount(const SingularSquares& fit, const Design& design) {
  const auto saved = fit.Estimate(design.saved);
  const bool known = saved.has_value() &&
                     saved->error <= kMaxWeightError * std::abs(saved->value);
  return known ? saved->value : kUnknown;
}

double TakenAmount(const SingularSquares& fit, const Design& design,
                   double most_error) {
  const auto taken = fit.Estimate(design.taken);
  const bool known =
      taken.has_value() && taken->error <= most_error * std::abs(taken->value);
  return known ? std::max(taken->value, 0.0) : kUnknown;
}

double TakenParameters(const SingularSquares& fit, const Design& design) {
  return TakenAmount(fit, design, kMaxWeightError);
}

double TakenSeconds(const SingularSquares& fit, const Design& design) {
  if (fit.freedom() < kLeastFreedom) return kUnknown;
  return TakenAmount(fit, design, kMaxShareError);
}

double SavedShare(const SingularSquares& fit, const Design& design) {
  std::vector<double> all(design.saved.size(), 0.0);
  all[0] = 1.0;  // nothing frozen
  const auto saved = fit.Estimate(design.saved);
  const auto whole = fit.Estimate(all);
  if (!saved.has_value() || !whole.has_value() || !(whole->value > 0.0) ||
      fit.freedom() < kLeastFreedom) {
    return kUnknown;
  }
  const double share = saved->value / whole->value;
  std::vector<double> off = design.saved;  // what the share is wrong by
  off[0] = -share;
  const double error = fit.Estimate(off)->error / whole->value;
  return error <= kMaxShareError ? share : kUnknown;
}

double Estimate(const Space& space,
                const std::vector<const Observation*>& trials,
                const Point& plan, double Observation::* amount,
                double (*read)(const SingularSquares&, const Design&)) {
  std::vector<const Point*> points;
  std::vector<double> targets;
  for (const Observation* const trial : trials) {
    if (!(trial->*amount > 0.0)) continue;
    points.push_back(&trial->point);
    targets.push_back(trial->*amount);
  }
  if (points.empty()) return kUnknown;
  const Design design = MakeDesign(space, points, plan);
  if (!design.is_decided) return kUnknown;
  return read(SingularSquares(design.rows, std::move(targets)), design);
}

}  // namespace

PlanSavings EstimateSavings(const Space& space,
                            const std::vector<const Observation*>& trials,
                            const Point& plan) {
  return {Estimate(space, trials, plan, &Observation::trained_parameters,
                   SavedAmount),
          Estimate(space, trials, plan, &Observation::cost_s, SavedShare)};
}

PlanCosts EstimateCosts(const Space& space,
                        const std::vector<const Observation*>& trials,
                        const Point& point) {
  return {Estimate(space, trials, point, &Observation::trained_parameters,
                   TakenParameters),
          Estimate(space, trials, point, &Observation::cost_s, TakenSeconds)};
}

namespace {

// One more than a round number, so quantiles are draws, and the 80 % interval
// ends at the tolerance if the probability is kSureEnough.
constexpr int kStudyDraws = 601;
constexpr double kUnknownWorth = std::numeric_limits<double>::quiet_NaN();

// Returns what is lost by the second point against the first, by draw, where
// one of them was `chosen` (0 or 1) because most is expected of it. The luck of
// that choice is taken off, so luck alone is no advice: at most its whole gain,
// because without it the other is as good, and not better.
std::vector<double> SoberLosses(const StudyBelief& belief,
                                const Optimism& optimism, std::size_t chosen,
                                WorthDraws draws) {
  WorthDraws gains;
  gains.reserve(draws.size());
  for (const auto& draw : draws) {
    gains.push_back({draw[chosen] - draw[1 - chosen]});
  }
  const double off = std::min(optimism.lift * DeviationOf(gains, 0),
                              std::max(MeanOf(gains, 0), 0.0));
  for (std::vector<double>& draw : draws) draw[chosen] -= off;
  FlattenBeside(chosen, optimism, draws);
  return LossesOf(belief, draws, 0, 1);
}

// Fills in the advice. Probability, cost and interval come from the same draws
// of the same two points, so none contradicts another.
void Advise(const StudyBelief& belief, const TrainedAndFrozen& pair,
            const Optimism& optimism, double tolerance, PlannedModule& one) {
  const std::vector<double> costs =
      SoberLosses(belief, optimism, one.freeze ? 1 : 0,
                  belief.Draw({pair.trained, pair.frozen}, kStudyDraws));
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
  one.rank = rate.rank;
  one.freeze = rate.rate == 0.0;
  one.advice = is_searched && !choices.IsKnown(module) ? Advice::kNotKnown
                                                       : Advice::kFixed;
  one.freeze_probability = kUnknownWorth;
  one.cost_of_freezing = {kUnknownWorth, kUnknownWorth, kUnknownWorth,
                          kUnknownWorth, kUnknownWorth};
  return one;
}

constexpr double kNothingR2 = 0.05;

// Returns how much of the variance of trials the other trials predict.
double LeftOutR2(const PlanBasis& basis) {
  const std::vector<surrogate::Belief>& left = basis.left_out();
  const StudyBelief& belief = basis.belief();
  const std::vector<double>& seen = belief.rows().rows.values;
  const std::size_t count = belief.learnt();
  double mean = 0.0;
  for (std::size_t row = 0; row < count; ++row) {
    mean += seen[row] / static_cast<double>(count);
  }
  double off = 0.0;
  double whole = 0.0;
  for (std::size_t row = 0; row < count; ++row) {
    off += (seen[row] - left[row].mean) * (seen[row] - left[row].mean);
    whole += (seen[row] - mean) * (seen[row] - mean);
  }
  return 1.0 - off / whole;
}

// Says whether trials do not predict each other, so that no effect can be told
// from noise.
bool ExplainsNothing(const PlanBasis& basis) {
  return !(LeftOutR2(basis) >= kNothingR2);
}

// The modules of a plan, in depth order, and the pairs of points that tell what
// freezing them costs.
struct AdvisedModules {
  std::vector<std::size_t> order;  // places in Space::modules()
  std::vector<std::optional<TrainedAndFrozen>> pairs;  // by that place
  std::vector<PlannedModule> modules;
};

// Says whether runs hardly survive that train the module.
bool IsDeadlyToTrain(const StudyBelief& belief, std::size_t module) {
  const auto& split = belief.survival();
  return split.has_value() && split->of_freezing && split->fails_at &&
         belief.space().modules()[module].parameter == split->parameter &&
         split->bad.ChanceToRun() <= 1.0 - kSureEnough;
}

AdvisedModules AdviseModules(const PlanBasis& basis, const PlanChoice& plan,
                             double tolerance, const std::stop_token& stop) {
  const StudyBelief& belief = basis.belief();
  const std::vector<ModuleRate> rates =
      belief.space().Rates(basis.choices().PointOf(plan));
  const std::vector<SeenModule> seen = SeenModules(belief);
  AdvisedModules advised;
  advised.order = ModulesInDepthOrder(belief.space());
  advised.pairs = CompareFreezing(basis.search(), plan);
  const bool is_any_seen = belief.is_any_told() && !ExplainsNothing(basis);
  for (const std::size_t m : advised.order) {
    PlannedModule one = Bare(basis.choices(), rates[m], m);
    if (one.freeze && IsDeadlyToTrain(belief, m)) {
      one.advice = Advice::kFreeze;
      one.reason = belief.survival()->sentence;
    } else if (advised.pairs[m].has_value() && !seen[m].both()) {
      one.advice = Advice::kNotKnown;
      one.reason = absl::StrCat("not known: every trial ",
                                seen[m].frozen ? "froze" : "trained", " it");
    } else if (advised.pairs[m].has_value() && !stop.stop_requested()) {
      Advise(belief, *advised.pairs[m], basis.optimism(), tolerance, one);
      // Nobody is told to train what makes no difference that can be seen.
      if (!is_any_seen && one.advice == Advice::kTrain) {
        one.advice = Advice::kNotKnown;
      }
    }
    advised.modules.push_back(std::move(one));
  }
  return advised;
}

// Returns the trials without which the advice about each module would be
// wrong, as far as means tell; none where nothing is advised.
std::vector<std::vector<std::size_t>> TrialsAdviceRestsOn(
    const PlanBasis& basis, const AdvisedModules& advised, double tolerance,
    const std::stop_token& stop) {
  const StudyBelief& belief = basis.belief();
  std::vector<surrogate::Cells> points;
  for (const auto& pair : advised.pairs) {
    if (!pair.has_value()) continue;
    points.push_back(belief.rows().CellsOf(pair->trained));
    points.push_back(belief.rows().CellsOf(pair->frozen));
  }
  const surrogate::Influence influence(belief.surrogate(), points);
  std::vector<std::vector<std::size_t>> rests_on(advised.modules.size());
  for (std::size_t k = 0; k < advised.modules.size(); ++k) {
    const Advice advice = advised.modules[k].advice;
    if (advice != Advice::kFreeze && advice != Advice::kTrain) continue;
    if (!advised.modules[k].reason.empty()) continue;  // for another reason
    const auto begin = advised.pairs.begin();
    const auto place = static_cast<std::ptrdiff_t>(advised.order[k]);
    const auto at = 2 * static_cast<std::size_t>(std::count_if(
                            begin, begin + place,
                            [](const auto& pair) { return pair.has_value(); }));
    const auto margin = [&](const surrogate::Loss& lost) {
      const std::vector<double> means = influence.MeansWithout(lost);
      const double cost =
          AsLoss(belief.objective(), belief.ScoreOf(means[at + 1])) -
          AsLoss(belief.objective(), belief.ScoreOf(means[at]));
      return advice == Advice::kFreeze ? tolerance - cost : cost - tolerance;
    };
    const auto rows = influence.FindBreaking(margin, stop);
    if (!rows.has_value()) continue;
    for (const std::size_t row : *rows) {
      rests_on[k].push_back(belief.TrialOfRow(row));
    }
  }
  return rests_on;
}

std::vector<PlannedModule> DescribeModules(const PlanBasis& basis,
                                           const PlanChoice& plan,
                                           double tolerance,
                                           const std::stop_token& stop) {
  const StudyBelief& belief = basis.belief();
  AdvisedModules advised = AdviseModules(basis, plan, tolerance, stop);
  const auto rests_on = TrialsAdviceRestsOn(basis, advised, tolerance, stop);
  for (std::size_t k = 0; k < advised.modules.size(); ++k) {
    PlannedModule& one = advised.modules[k];
    if (!rests_on[k].empty()) one.advice = Advice::kNotKnown;
    for (const std::size_t trial : rests_on[k]) {
      one.rests_on.push_back(belief.NumberOf(trial));
    }
    std::sort(one.rests_on.begin(), one.rests_on.end());
    if (!one.reason.empty()) continue;
    one.reason = ReasonFor(belief.space().modules()[advised.order[k]], one,
                           belief.objective().metric, tolerance);
  }
  return std::move(advised.modules);
}

// Whether the parameter with the largest main effect would have it without any
// two trials.
std::vector<FragileAdvice> FindFragileLead(const PlanBasis& basis,
                                           const std::stop_token& stop) {
  const StudyBelief& belief = basis.belief();
  const surrogate::Influence influence(belief.surrogate());
  const std::vector<double> mains = influence.MainVariancesWithout({});
  const auto first = static_cast<std::size_t>(
      std::max_element(mains.begin(), mains.end()) - mains.begin());
  const auto lead = [&](const surrogate::Loss& lost) {
    std::vector<double> left = influence.MainVariancesWithout(lost);
    const double own = std::exchange(left[first], 0.0);
    return own - *std::max_element(left.begin(), left.end());
  };
  const auto rows = influence.FindBreaking(lead, stop);
  if (!rows.has_value()) return {};
  FragileAdvice one;
  one.says = belief.space().parameters()[belief.rows().parameters[first]].name +
             " matters most";
  for (const std::size_t row : *rows) {
    one.trials.push_back(belief.TrialOfRow(row));
  }
  return {one};
}

// `plan` has its tolerance.
void PredictPoint(const PlanBasis& basis, const PlanChoice& choice,
                  StudyPlan& plan) {
  const StudyBelief& belief = basis.belief();
  const Optimism& optimism = basis.optimism();
  const std::size_t best = belief.BestTrial();
  const WorthDraws draws = DrawBesideBest(belief, choice);
  const std::vector<double> worths = WithoutOptimism(draws, 0, optimism);
  plan.predicted_score = PredictMean(belief, worths, optimism);
  plan.one_run = PredictRun(belief, worths, optimism);
  plan.best_seen_value = belief.SeenScore(best);
  plan.best_seen_trial = belief.selection().trials[best]->number;
  plan.best_seen_score =
      PredictMean(belief, WithoutOptimism(draws, 1, optimism), optimism);
  plan.at_least_best_probability =
      ChanceOfLoss(belief, draws, 1, 0, plan.tolerance);
}

}  // namespace

std::vector<FragileAdvice> FindFragileAdvice(const PlanBasis& basis,
                                             const PlanChoice& plan,
                                             double tolerance,
                                             const std::stop_token& stop) {
  std::vector<FragileAdvice> fragile = FindFragileLead(basis, stop);
  const AdvisedModules advised = AdviseModules(basis, plan, tolerance, stop);
  auto rests_on = TrialsAdviceRestsOn(basis, advised, tolerance, stop);
  for (std::size_t k = 0; k < rests_on.size(); ++k) {
    if (rests_on[k].empty()) continue;
    const PlannedModule& one = advised.modules[k];
    fragile.push_back(
        {(one.advice == Advice::kFreeze ? "freeze " : "train ") + one.module,
         std::move(rests_on[k])});
  }
  return fragile;
}

absl::StatusOr<StudyPlan> MakePlan(const PlanBasis& basis,
                                   const PlanOptions& options) {
  const StudyBelief& belief = basis.belief();
  RETURN_IF_ERROR(CheckPlanRequest(belief.space(), options));
  const double tolerance = ToleranceInForce(basis, options);
  const PlanChoice choice = PlanPoint(basis.search(), tolerance);
  RETURN_IF_ERROR(CheckStop(options.evaluate.stop));
  StudyPlan plan;
  plan.tolerance = tolerance;
  plan.point = basis.choices().PointOf(choice);
  plan.modules =
      DescribeModules(basis, choice, tolerance, options.evaluate.stop);
  RETURN_IF_ERROR(CheckStop(options.evaluate.stop));
  PredictPoint(basis, choice, plan);
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

double ToleranceInForce(const PlanBasis& basis, const PlanOptions& options) {
  if (options.tolerance > 0.0) return options.tolerance;
  const double of_study = basis.belief().objective().tolerance;
  if (of_study > 0.0) return of_study;
  const PlanChoices& choices = basis.choices();
  return UnnoticedLoss(basis.belief(), choices.Worth(choices.tried()[0]),
                       basis.optimism(), options.evaluation_rows);
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

namespace {

constexpr std::size_t kNamed = 3;        // modules that a sentence names
constexpr std::size_t kFewestInRow = 3;  // layers that are named as a range

// Returns k of "layer.k", else -1.
int LayerOf(const std::string& module) {
  int layer = 0;
  const bool is_layer = absl::StartsWith(module, "layer.") &&
                        absl::SimpleAtoi(module.substr(6), &layer);
  return is_layer ? layer : -1;
}

std::string FixedReason(const ModuleBinding& binding) {
  if (binding.decay_steps.has_value()) {
    return "its rate follows base_rate and decay";
  }
  return binding.fixed_rate == 0.0
             ? "the study keeps it frozen"
             : absl::StrFormat("the study trains it at %g", binding.fixed_rate);
}

// Freezing it is safe enough by itself, and the plan trains it.
bool IsEither(const PlannedModule& planned) {
  return planned.advice == Advice::kNotKnown && !planned.freeze &&
         planned.freeze_probability >= kSureEnough;
}

// "at 0.0002", "at rank 8, 0.0002".
std::string SayHow(const PlannedModule& planned) {
  const std::string rate = absl::StrFormat("%g", planned.rate);
  return planned.rank.has_value()
             ? absl::StrCat("at rank ", *planned.rank, ", ", rate)
             : absl::StrCat("at ", rate);
}

std::string SayUnknown(const PlannedModule& planned,
                       const std::string& metric) {
  const Interval& cost = planned.cost_of_freezing;
  const double half = (cost.hi80 - cost.lo80) / 2.0;
  const std::string now = planned.freeze
                              ? std::string("frozen")
                              : absl::StrCat("trained ", SayHow(planned));
  if (IsEither(planned)) {
    return absl::StrCat("by itself it could be frozen, too; ", now,
                        " as the plan stands");
  }
  return absl::StrCat("not known: freezing it costs between ",
                      RoundTogether(cost.lo80, half).value, " and ",
                      RoundTogether(cost.hi80, half).value, " of ", metric,
                      "; ", now, " as the plan stands");
}

}  // namespace

std::string SayChance(double probability) {
  const double percent = std::nearbyint(100.0 * probability);
  return absl::StrFormat("%.2f", std::clamp(percent, 1.0, 99.0) / 100.0);
}

RoundedPair RoundTogether(double value, double error) {
  const double size = std::max(std::abs(error), 1e-300);
  const int places =
      std::clamp(1 - static_cast<int>(std::floor(std::log10(size))), 0, 12);
  // What rounds to nothing has no sign.
  const bool is_nothing = std::abs(value) < 0.5 * std::pow(10.0, -places);
  return {absl::StrFormat("%.*f", places, is_nothing ? 0.0 : value),
          absl::StrFormat("%.*f", places, error)};
}

std::string SayInterval(const Interval& interval) {
  const double half = (interval.hi80 - interval.lo80) / 2.0;
  return absl::StrCat(RoundTogether(interval.value, half).value, " (",
                      RoundTogether(interval.lo80, half).value, " to ",
                      RoundTogether(interval.hi80, half).value, ")");
}

std::string SayModules(const std::vector<std::string>& modules) {
  std::vector<std::string> parts;
  std::size_t named = 0;  // modules in parts
  for (std::size_t i = 0; i < modules.size() && parts.size() <= kNamed;) {
    std::size_t end = i + 1;
    while (end < modules.size() && LayerOf(modules[i]) >= 0 &&
           LayerOf(modules[end]) == LayerOf(modules[end - 1]) + 1) {
      ++end;
    }
    if (end - i < kFewestInRow) end = i + 1;
    const bool is_last = end == modules.size();
    if (parts.size() == kNamed && !is_last) break;
    parts.push_back(end == i + 1 ? modules[i]
                                 : absl::StrCat(modules[i], "-",
                                                LayerOf(modules[end - 1])));
    named += end - i;
    i = end;
  }
  std::string text = absl::StrJoin(parts, ", ");
  if (named == modules.size()) return text;
  return absl::StrCat(text, " and ", modules.size() - named, " more");
}

std::string ReasonFor(const ModuleBinding& binding,
                      const PlannedModule& planned, const std::string& metric,
                      double tolerance) {
  const Interval& cost = planned.cost_of_freezing;
  if (std::isnan(cost.value)) {
    if (!binding.parameter.has_value()) return FixedReason(binding);
    if (planned.advice == Advice::kNotKnown) {
      return "not known: of very many parameters its own is left out";
    }
    return planned.freeze ? "the space has no rate for it but frozen"
                          : "the space has no level that freezes it: trained "
                            "at its best rate";
  }
  const double half = (cost.hi80 - cost.lo80) / 2.0;
  const std::string sure = SayChance(planned.freeze_probability);
  if (!planned.rests_on.empty()) {
    return absl::StrCat("not known: what there is to say rests on ",
                        NameTrials(planned.rests_on),
                        "; `plan --ask` runs such trials again");
  }
  if (planned.advice == Advice::kFreeze && cost.value <= 0.0) {
    return absl::StrCat("frozen is better, with probability ", sure,
                        ": training it costs ",
                        RoundTogether(-cost.value, half).value, " of ", metric);
  }
  if (planned.advice == Advice::kFreeze) {
    return absl::StrCat("freezing it costs ",
                        RoundTogether(cost.value, half).value, " of ", metric,
                        ", with probability ", sure, " at most the tolerated ",
                        absl::StrFormat("%.2g", tolerance));
  }
  if (planned.advice == Advice::kTrain) {
    return absl::StrCat("training it ", SayHow(planned), " is worth ",
                        RoundTogether(cost.value, half).value, " of ", metric,
                        " (", RoundTogether(cost.lo80, half).value, " to ",
                        RoundTogether(cost.hi80, half).value, ")");
  }
  return SayUnknown(planned, metric);
}

std::string PlanVerdict(const StudyBelief& belief, const StudyPlan& plan,
                        bool copies) {
  std::vector<std::string> freeze, train, either;
  std::size_t open = 0;
  for (const PlannedModule& one : plan.modules) {
    if (one.advice == Advice::kFreeze) freeze.push_back(one.module);
    if (one.advice == Advice::kTrain) train.push_back(one.module);
    if (IsEither(one)) either.push_back(one.module);
    open += one.advice == Advice::kNotKnown && !IsEither(one) ? 1 : 0;
  }
  std::vector<std::string> parts;
  if (!freeze.empty()) parts.push_back("freeze " + SayModules(freeze));
  if (!train.empty()) parts.push_back("train " + SayModules(train));
  if (!either.empty()) {
    parts.push_back(either.size() == 1
                        ? absl::StrCat(either[0], " could be frozen, too")
                        : absl::StrCat("one more of ", SayModules(either),
                                       " could be frozen"));
  }
  if (open > 0) {
    parts.push_back(absl::StrCat("what ", open, parts.empty() ? "" : " other",
                                 open == 1 ? " module does" : " modules do",
                                 " is not known"));
  }
  const std::string& metric = belief.objective().metric;
  return absl::StrCat(
      belief.trials(), " trials: ", absl::StrJoin(parts, ", "), "; ",
      copies ? absl::StrCat("no point is surely as good as trial ",
                            plan.best_seen_trial, ", which is the plan and")
             : absl::StrCat("the plan, with probability ",
                            SayChance(plan.at_least_best_probability),
                            " as good as trial ", plan.best_seen_trial, ","),
      " should reach ", metric, " ", SayInterval(plan.predicted_score));
}

std::vector<ReportWarning> PlanWarnings(const PlanBasis& basis,
                                        const StudyPlan& plan, bool copies) {
  std::vector<ReportWarning> warnings = basis.belief().warnings();
  const double r2 = LeftOutR2(basis);
  if (ExplainsNothing(basis)) {
    warnings.push_back({"NOTHING_EXPLAINED",
                        "trials do not predict each other: no effect of any "
                        "level can be told from noise",
                        {}});
  } else if (r2 < kSolidR2) {
    warnings.push_back({"LITTLE_EXPLAINED",
                        absl::StrFormat("trials predict only R2 = %.2f of "
                                        "each other: verify the plan before "
                                        "relying on it",
                                        r2),
                        {}});
  }
  if (copies) {
    warnings.push_back(
        {"PLAN_NOT_BETTER",
         absl::StrCat("no point is expected to be better than trial ",
                      plan.best_seen_trial,
                      " with probability 0.9: the plan "
                      "is that trial again"),
         {}});
  }
  return warnings;
}

}  // namespace frostline::importance
