// SPDX-License-Identifier: Apache-2.0
//
// File: inverse_factor.h
//
// The inverse W = L⁻¹ of the Cholesky factor of a growing covariance, K = L Lᵀ,
// is kept by rows, and so is L's diagonal. One more row costs O(n²) and comes
// from those above in a fixed order, so a factor that has grown equals, bit for
// bit, one made anew.
//
//   with l = W k and p = sqrt(k(x, x) - l·l):
//   new row of L = [lᵀ, p],  new row of W = [-lᵀW / p, 1 / p]
#ifndef FROSTLINE_SURROGATE_INVERSE_FACTOR_H_
#define FROSTLINE_SURROGATE_INVERSE_FACTOR_H_

#include <cstddef>
#include <span>
#include <vector>

namespace frostline::surrogate {

// Sums in a fixed order. REQUIRES: sizes are equal.
double Dot(std::span<const double> a, std::span<const double> b);

class InverseFactor {
 public:
  std::size_t size() const { return size_; }

  // `variance` includes noise; one that rounding made too small is lifted.
  void Append(std::span<const double> covariance, double variance);
  // Keeps so many rows.
  void Truncate(std::size_t size);

  // Has the first i + 1 elements; others are 0.
  std::span<const double> row(std::size_t i) const {
    return {&inverse_[i * (i + 1) / 2], i + 1};
  }
  double pivot(std::size_t i) const { return pivots_[i]; }

  // Return W v and Wᵀ v, over the first v.size() rows.
  std::vector<double> Multiply(std::span<const double> v) const;
  std::vector<double> MultiplyTransposed(std::span<const double> v) const;

 private:
  std::size_t size_ = 0;
  std::vector<double> inverse_;  // W, row after row
  std::vector<double> pivots_;   // the diagonal of L
};

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_INVERSE_FACTOR_H_
