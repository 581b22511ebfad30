// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/importance/plan_oracle.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace frostline::bench {
namespace {

Extremes ExtremesOfSum(const test::Truth& truth) {
  Point point(static_cast<std::size_t>(truth.modules), 0.0);
  const double base = truth.Target(point);
  Extremes extremes{base, base, point};
  for (std::size_t m = 0; m < point.size(); ++m) {
    double lowest = base, highest = base;
    for (point[m] = 0.0; point[m] < truth.levels; point[m] += 1.0) {
      const double score = truth.Target(point);
      lowest = std::min(lowest, score);
      if (score <= highest) continue;
      highest = score;
      extremes.best[m] = point[m];
    }
    point[m] = 0.0;
    extremes.lowest += lowest - base;
    extremes.highest += highest - base;
  }
  return extremes;
}

// Covariance of a term's values at two points.
double Covariance(const test::TruthTerm& term, int levels, const Point& a,
                  const Point& b) {
  double value = term.share;
  for (const std::size_t axis : term.axes) {
    if (a[axis] != b[axis]) value /= 1.0 - levels;
  }
  return value;
}

// Solves a x = y in place, a symmetric and positive definite: by Cholesky.
void Solve(std::vector<std::vector<double>> a, std::vector<double>& y) {
  const std::size_t n = y.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i][k] * a[j][k];
      a[i][j] = i == j ? std::sqrt(sum) : sum / a[j][j];
    }
    for (std::size_t k = 0; k < i; ++k) y[i] -= a[i][k] * y[k];
    y[i] /= a[i][i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) y[i] -= a[k][i] * y[k];
    y[i] /= a[i][i];
  }
}

}  // namespace

Extremes ExtremesOf(const test::Truth& truth) {
  if (std::all_of(
          truth.terms.begin(), truth.terms.end(),
          [](const test::TruthTerm& t) { return t.axes.size() == 1; })) {
    return ExtremesOfSum(truth);
  }
  Point point(static_cast<std::size_t>(truth.modules), 0.0);
  Extremes extremes{truth.Target(point), truth.Target(point), point};
  for (std::size_t at = 0; at < point.size();) {
    const double score = truth.Target(point);
    extremes.lowest = std::min(extremes.lowest, score);
    if (score > extremes.highest) {
      extremes.highest = score;
      extremes.best = point;
    }
    for (at = 0; at < point.size(); ++at) {
      point[at] += 1.0;
      if (point[at] < truth.levels) break;
      point[at] = 0.0;
    }
  }
  return extremes;
}

test::Truth ExpectedTruth(const test::Truth& truth, const History& history,
                          double noise) {
  const auto& trials = history.trials();
  std::vector<std::vector<double>> covariance(trials.size());
  std::vector<double> weights;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = i == j ? noise * noise : 0.0;
      for (const test::TruthTerm& term : truth.terms) {
        sum += Covariance(term, truth.levels, trials[i].point, trials[j].point);
      }
      covariance[i].push_back(sum);
    }
    weights.push_back(trials[i].values[0]);
  }
  Solve(std::move(covariance), weights);
  test::Truth expected = truth;
  for (test::TruthTerm& term : expected.terms) {
    Point point(static_cast<std::size_t>(truth.modules), 0.0);
    for (double& cell : term.table) {
      cell = 0.0;
      for (std::size_t i = 0; i < trials.size(); ++i) {
        cell +=
            weights[i] * Covariance(term, truth.levels, point, trials[i].point);
      }
      // The last axis fastest.
      for (std::size_t k = term.axes.size(); k-- > 0;) {
        double& level = point[term.axes[k]];
        level += 1.0;
        if (level < truth.levels) break;
        level = 0.0;
      }
    }
  }
  return expected;
}

}  // namespace frostline::bench
