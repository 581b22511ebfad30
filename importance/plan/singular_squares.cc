// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/singular_squares.h"

#include <algorithm>
#include <cmath>

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

}  // namespace frostline::importance
