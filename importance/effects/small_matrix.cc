// SPDX-License-Identifier: Apache-2.0
#include "importance/effects/small_matrix.h"

#include <algorithm>
#include <cmath>

namespace frostline {
namespace {

constexpr int kMaxSweeps = 30;
constexpr double kSmallRotation = 1e-14;

// Rows and columns p and q of `a` turned so that a[p][q] becomes 0.
void Rotate(std::vector<double>& a, std::vector<double>& vectors, std::size_t n,
            std::size_t p, std::size_t q) {
  const double theta = (a[q * n + q] - a[p * n + p]) / (2.0 * a[p * n + q]);
  const double t =
      (theta < 0.0 ? -1.0 : 1.0) / (std::abs(theta) + std::hypot(theta, 1.0));
  const double c = 1.0 / std::hypot(t, 1.0);
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

double Dot(const double* a, const double* b, std::size_t n) {
  double s0 = 0.0;
  double s1 = 0.0;
  double s2 = 0.0;
  double s3 = 0.0;
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    s0 += a[i] * b[i];
    s1 += a[i + 1] * b[i + 1];
    s2 += a[i + 2] * b[i + 2];
    s3 += a[i + 3] * b[i + 3];
  }
  for (; i < n; ++i) s0 += a[i] * b[i];
  return (s0 + s1) + (s2 + s3);
}

std::vector<double> InverseFactor(std::vector<double> a, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const double rest = a[i * n + j] - Dot(&a[i * n], &a[j * n], j);
      a[i * n + j] = j < i ? rest / a[j * n + j] : std::sqrt(rest);
    }
  }
  // Row i of the inverse from the rows above it, all of them contiguous.
  std::vector<double> inverse(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    double* const row = &inverse[i * n];
    for (std::size_t k = 0; k < i; ++k) {
      const double factor = a[i * n + k];
      const double* const above = &inverse[k * n];
      for (std::size_t j = 0; j <= k; ++j) row[j] -= factor * above[j];
    }
    const double scale = 1.0 / a[i * n + i];
    for (std::size_t j = 0; j < i; ++j) row[j] *= scale;
    row[i] = scale;
  }
  return inverse;
}

Eigen SymmetricEigen(std::vector<double> a, std::size_t n) {
  Eigen eigen;
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

}  // namespace frostline
