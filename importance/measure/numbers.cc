// SPDX-License-Identifier: Apache-2.0
#include "importance/measure/numbers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "base/plain/statistics.h"

namespace frostline::importance {

Interval ShareInterval(double value, const std::vector<double>& replicates) {
  if (replicates.empty()) return {value, value, value, value, value};
  const double shift = value - Quantile(replicates, 0.5);
  const auto end = [&](double q, double lo, double hi) {
    return std::clamp(Quantile(replicates, q) + shift, lo, hi);
  };
  return {value, end(0.1, 0.0, value), end(0.9, value, 1.0),
          end(0.025, 0.0, value), end(0.975, value, 1.0)};
}

Interval IntervalOfDraws(double value, std::vector<double> draws) {
  if (draws.empty()) return {value, value, value, value, value};
  std::sort(draws.begin(), draws.end());
  return {value, std::min(QuantileOfSorted(draws, 0.1), value),
          std::max(QuantileOfSorted(draws, 0.9), value),
          std::min(QuantileOfSorted(draws, 0.025), value),
          std::max(QuantileOfSorted(draws, 0.975), value)};
}

std::vector<int> RankByFalling(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(
      order.begin(), order.end(),
      [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  std::vector<int> ranks(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    ranks[order[i]] = static_cast<int>(i) + 1;
  }
  return ranks;
}

std::vector<double> Top3Probabilities(
    const std::vector<double>& values,
    const std::vector<std::vector<double>>& draws) {
  std::vector<double> probabilities(values.size(), 0.0);
  const auto count = [&probabilities](const std::vector<double>& draw) {
    const std::vector<int> ranks = RankByFalling(draw);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (ranks[i] <= 3) probabilities[i] += 1.0;
    }
  };
  if (draws.empty()) count(values);
  for (const std::vector<double>& draw : draws) count(draw);
  const double of = draws.empty() ? 1.0 : static_cast<double>(draws.size());
  for (double& probability : probabilities) probability /= of;
  return probabilities;
}

double DirectionOf(std::vector<double> losses) {
  if (losses.empty()) return std::numeric_limits<double>::quiet_NaN();
  for (double& loss : losses) loss = -loss;
  std::vector<double> order(losses.size());
  std::iota(order.begin(), order.end(), 0.0);
  return RankCorrelation(order, losses);
}

double ClearDirectionOf(std::vector<double> losses) {
  if (losses.empty()) return DirectionOf(std::move(losses));
  const auto [low, high] = std::minmax_element(losses.begin(), losses.end());
  const double step = (*high - *low) / 50.0;
  const double from = *low;
  for (double& loss : losses) {
    loss = step > 0.0 ? std::round((loss - from) / step) : 0.0;
  }
  return DirectionOf(std::move(losses));
}

namespace {

// Two numbers at a time, which every processor of today can.
using Lanes [[gnu::vector_size(16)]] = double;

Lanes Load(const double* from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof(lanes));
  return lanes;
}

// How many rows are multiplied with how many others at once. Each number loaded
// is used several times, and no sum waits for itself.
constexpr std::size_t kTall = 4;
constexpr std::size_t kWide = 2;
using Tile = std::array<std::array<double, kWide>, kTall>;

// Returns products of rows of `a` and of `b`, both `stride` apart, over
// [begin, end).
Tile Products(const double* a, const double* b, std::size_t stride,
              std::size_t begin, std::size_t end) {
  Lanes sums[kTall][kWide] = {};
  std::size_t k = begin;
  for (; k + 2 <= end; k += 2) {
    const Lanes b0 = Load(b + k);
    const Lanes b1 = Load(b + stride + k);
#pragma GCC unroll 4
    for (std::size_t r = 0; r < kTall; ++r) {
      const Lanes own = Load(a + r * stride + k);
      sums[r][0] += own * b0;
      sums[r][1] += own * b1;
    }
  }
  Tile tile;
  for (std::size_t r = 0; r < kTall; ++r) {
    for (std::size_t c = 0; c < kWide; ++c) {
      tile[r][c] = sums[r][c][0] + sums[r][c][1];
      if (k < end) tile[r][c] += a[r * stride + k] * b[c * stride + k];
    }
  }
  return tile;
}

// Fills in rows [i, i + kTall) of the Cholesky factor, from the rows above
// them.
void FactorRows(std::vector<double>& a, std::size_t m, std::size_t i) {
  for (std::size_t j = 0; j < i + kTall; j += kWide) {
    const std::size_t known = std::min(j, i);
    const Tile tile = Products(&a[i * m], &a[j * m], m, 0, known);
    for (std::size_t r = 0; r < kTall; ++r) {
      double* const row = &a[(i + r) * m];
      for (std::size_t c = 0; c < kWide && j + c <= i + r; ++c) {
        const double* const other = &a[(j + c) * m];
        double rest = row[j + c] - tile[r][c];
        for (std::size_t k = known; k < j + c; ++k) rest -= row[k] * other[k];
        row[j + c] = j + c < i + r ? rest / other[j + c] : std::sqrt(rest);
      }
    }
  }
}

// Fills in places [i, i + kTall) of all columns of the factor's inverse, from
// the places before them.
void InvertRows(const std::vector<double>& factor, std::size_t m, std::size_t i,
                std::vector<double>& columns) {
  for (std::size_t j = 0; j < i + kTall; j += kWide) {
    const std::size_t from = std::min(j, i);
    const Tile tile = Products(&factor[i * m], &columns[j * m], m, from, i);
    for (std::size_t c = 0; c < kWide; ++c) {
      double* const column = &columns[(j + c) * m];
      for (std::size_t r = 0; r < kTall; ++r) {
        if (i + r < j + c) continue;
        const double* const row = &factor[(i + r) * m];
        double sum = i + r == j + c ? 1.0 : -tile[r][c];
        for (std::size_t k = std::max(i, j + c); k < i + r; ++k) {
          sum -= row[k] * column[k];
        }
        column[i + r] = sum / row[i + r];
      }
    }
  }
}

}  // namespace

double Dot(const double* a, const double* b, std::size_t n) {
  Lanes even = {};
  Lanes odd = {};
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    even += Load(a + i) * Load(b + i);
    odd += Load(a + i + 2) * Load(b + i + 2);
  }
  for (; i < n; ++i) even[0] += a[i] * b[i];
  return (even[0] + even[1]) + (odd[0] + odd[1]);
}

void RowProducts(const double* a, std::size_t a_rows, const double* b,
                 std::size_t b_rows, std::size_t length, double* products) {
  for (std::size_t i = 0; i < a_rows; i += kTall) {
    for (std::size_t j = 0; j < b_rows; j += kWide) {
      if (i + kTall <= a_rows && j + kWide <= b_rows) {
        const Tile tile =
            Products(a + i * length, b + j * length, length, 0, length);
        for (std::size_t r = 0; r < kTall; ++r) {
          for (std::size_t c = 0; c < kWide; ++c) {
            products[(i + r) * b_rows + j + c] = tile[r][c];
          }
        }
        continue;
      }
      for (std::size_t r = i; r < std::min(i + kTall, a_rows); ++r) {
        for (std::size_t c = j; c < std::min(j + kWide, b_rows); ++c) {
          products[r * b_rows + c] =
              Dot(a + r * length, b + c * length, length);
        }
      }
    }
  }
}

std::vector<double> InverseFactor(const std::vector<double>& a, std::size_t n) {
  const std::size_t m = (n + kTall - 1) / kTall * kTall;
  std::vector<double> factor(m * m, 0.0);
  for (std::size_t i = 0; i < m; ++i) {
    if (i >= n) factor[i * m + i] = 1.0;
    for (std::size_t j = 0; i < n && j <= i; ++j) {
      factor[i * m + j] = a[i * n + j];
    }
  }
  std::vector<double> columns(m * m, 0.0);  // of the inverse, row by row
  for (std::size_t i = 0; i < m; i += kTall) {
    FactorRows(factor, m, i);
    InvertRows(factor, m, i, columns);
  }
  std::vector<double> inverse(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j)
      inverse[i * n + j] = columns[j * m + i];
  }
  return inverse;
}

namespace {

constexpr int kMaxSweeps = 30;
constexpr double kSmallRotation = 1e-14;

// Turns rows and columns p and q of `a` so that a[p][q] becomes 0.
void Rotate(std::vector<double>& a, std::vector<double>& vectors, std::size_t n,
            std::size_t p, std::size_t q) {
  const double theta = (a[q * n + q] - a[p * n + p]) / (2.0 * a[p * n + q]);
  // std::hypot would ask for glibc 2.35 (python/build_server_wheel.py). A
  // square that overflows makes a rotation of 0, which it is but for rounding.
  const double t = (theta < 0.0 ? -1.0 : 1.0) /
                   (std::abs(theta) + std::sqrt(theta * theta + 1.0));
  const double c = 1.0 / std::sqrt(t * t + 1.0);
  const double s = t * c;
  for (std::size_t k = 0; k < n; ++k) {
    const double kp = a[k * n + p];
    const double kq = a[k * n + q];
    a[k * n + p] = c * kp - s * kq;
    a[k * n + q] = s * kp + c * kq;
  }
  for (std::size_t k = 0; k < n; ++k) {
    const double pk = a[p * n + k];
    const double qk = a[q * n + k];
    a[p * n + k] = c * pk - s * qk;
    a[q * n + k] = s * pk + c * qk;
    const double vp = vectors[p * n + k];
    const double vq = vectors[q * n + k];
    vectors[p * n + k] = c * vp - s * vq;
    vectors[q * n + k] = s * vp + c * vq;
  }
}

}  // namespace

EigenPairs SymmetricEigen(std::vector<double> a, std::size_t n) {
  EigenPairs eigen;
  eigen.vectors.assign(n * n, 0.0);
  double size = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    eigen.vectors[i * n + i] = 1.0;
    for (std::size_t j = 0; j < n; ++j) {
      size = std::max(size, std::abs(a[i * n + j]));
    }
  }
  for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
    bool rotated = false;
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        if (std::abs(a[p * n + q]) <= kSmallRotation * size) continue;
        Rotate(a, eigen.vectors, n, p, q);
        rotated = true;
      }
    }
    if (!rotated) break;
  }
  for (std::size_t i = 0; i < n; ++i) eigen.values.push_back(a[i * n + i]);
  return eigen;
}

}  // namespace frostline::importance
