// SPDX-License-Identifier: Apache-2.0
//
// File: inverse_factor.h
//
// The Cholesky factor L of a growing covariance matrix, K = L Lᵀ, and its
// inverse W = L⁻¹, both kept by rows. One more trial is one more row of each,
// in O(n²); rows are always computed in the same order from the rows above, so
// a factor that has grown is equal, bit for bit, to one made anew.
//
//   with l = W k and p = sqrt(k(x, x) - l·l):
//   new row of L = [lᵀ, p],  new row of W = [-lᵀW / p, 1 / p]
#ifndef FROSTLINE_SURROGATE_INVERSE_FACTOR_H_
#define FROSTLINE_SURROGATE_INVERSE_FACTOR_H_

#include <cstddef>
#include <span>
#include <vector>

namespace frostline::surrogate {

// a · b, with sums in a fixed order. REQUIRES: equal sizes.
double Dot(std::span<const double> a, std::span<const double> b);

class InverseFactor {
 public:
  std::size_t size() const { return size_; }

  // `covariance` with the rows so far, and the variance of the new one, noise
  // included. A variance that rounding made too small is lifted, never an
  // error.
  void Append(std::span<const double> covariance, double variance);
  // Keeps the first `size` rows.
  void Truncate(std::size_t size);

  // Row i: its first i + 1 elements, the others are 0.
  std::span<const double> row(std::size_t i) const {
    return {&inverse_[i * (i + 1) / 2], i + 1};
  }
  double pivot(std::size_t i) const { return pivots_[i]; }

  // W v and Wᵀ v, over the first v.size() rows.
  std::vector<double> Multiply(std::span<const double> v) const;
  std::vector<double> MultiplyTransposed(std::span<const double> v) const;

 private:
  std::size_t size_ = 0;
  std::vector<double> inverse_;  // W, row after row
  std::vector<double> pivots_;   // the diagonal of L
};

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_INVERSE_FACTOR_H_
