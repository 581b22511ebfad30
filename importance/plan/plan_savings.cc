// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/plan_savings.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace frostline::importance {
namespace {

constexpr double kSingular = 1e-9;
constexpr double kDecided = 1e-6;

using Matrix = std::vector<std::vector<double>>;

// Gauss and Jordan's elimination of a symmetric matrix with c beside it, by the
// largest pivot that is left; which rows had one.
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

}  // namespace frostline::importance
