// SPDX-License-Identifier: Apache-2.0
#include "surrogate/inverse_factor.h"

#include <algorithm>
#include <cmath>

namespace frostline::surrogate {

double Dot(std::span<const double> a, std::span<const double> b) {
  // Eight sums at once, so that no addition waits for the one before it.
  double sums[8] = {};
  std::size_t i = 0;
  for (; i + 8 <= a.size(); i += 8) {
    for (std::size_t k = 0; k < 8; ++k) sums[k] += a[i + k] * b[i + k];
  }
  for (; i < a.size(); ++i) sums[0] += a[i] * b[i];
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) +
         ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

void InverseFactor::Append(std::span<const double> covariance,
                           double variance) {
  const std::vector<double> l = Multiply(covariance.first(size_));
  const double rest = variance - Dot(l, l);
  const double pivot = std::sqrt(std::max(rest, 1e-9 * variance));
  std::vector<double> below = MultiplyTransposed(l);
  inverse_.reserve(inverse_.size() + size_ + 1);
  for (const double element : below) inverse_.push_back(-element / pivot);
  inverse_.push_back(1.0 / pivot);
  pivots_.push_back(pivot);
  ++size_;
}

void InverseFactor::Truncate(std::size_t size) {
  size_ = size;
  inverse_.resize(size * (size + 1) / 2);
  pivots_.resize(size);
}

std::vector<double> InverseFactor::Multiply(std::span<const double> v) const {
  std::vector<double> product(v.size());
  for (std::size_t i = 0; i < v.size(); ++i) {
    product[i] = Dot(row(i), v.first(i + 1));
  }
  return product;
}

std::vector<double> InverseFactor::MultiplyTransposed(
    std::span<const double> v) const {
  std::vector<double> product(v.size(), 0.0);
  for (std::size_t i = 0; i < v.size(); ++i) {
    const double factor = v[i];
    const double* const w = row(i).data();
    double* const sums = product.data();
    for (std::size_t j = 0; j <= i; ++j) sums[j] += factor * w[j];
  }
  return product;
}

}  // namespace frostline::surrogate
