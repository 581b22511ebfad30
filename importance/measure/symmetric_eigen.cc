// SPDX-License-Identifier: Apache-2.0
#include "importance/measure/symmetric_eigen.h"

#include <algorithm>
#include <cmath>

namespace frostline::importance {
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

}  // namespace frostline::importance
