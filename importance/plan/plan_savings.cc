// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/plan_savings.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "importance/plan/singular_squares.h"

namespace frostline::importance {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
// Larger standard errors than these are no answer: of weights in parts of them,
// of a share of seconds as it is.
constexpr double kMaxWeightError = 0.02;
constexpr double kMaxShareError = 0.1;
constexpr double kLeastFreedom = 3.0;

// Which modules a trial froze: a one, then a column for all modules that are
// always frozen together.
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
      // Of a part of them nothing can be told from their sum.
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

}  // namespace frostline::importance
