// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "importance/measure/small_matrix.h"

namespace frostline::importance {
namespace {

// Two numbers at a time, which every processor of today can.
using Lanes [[gnu::vector_size(16)]] = double;

Lanes Load(const double* from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof(lanes));
  return lanes;
}

// Products of so many rows with so many others at once: each number loaded is
// used several times, and no sum waits for itself.
constexpr std::size_t kTall = 4;
constexpr std::size_t kWide = 2;
using Tile = std::array<std::array<double, kWide>, kTall>;

// Of rows of `a` and of `b`, both `stride` apart, over [begin, end).
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

// Rows [i, i + kTall) of the Cholesky factor, from the rows above them.
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

// Places [i, i + kTall) of all columns of the factor's inverse, from the places
// before them.
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

}  // namespace frostline::importance
