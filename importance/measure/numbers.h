// SPDX-License-Identifier: Apache-2.0
//
// File: numbers.h
//
// Numbers of many draws, and small matrices by rows.
#ifndef FROSTLINE_IMPORTANCE_MEASURE_NUMBERS_H_
#define FROSTLINE_IMPORTANCE_MEASURE_NUMBERS_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "importance/measure/evaluate_options.h"

namespace frostline::importance {

// Moves bootstrap replicates around `value`: they see fewer distinct trials and
// are biased, but spread alike. Without any it is no wider than `value`.
Interval ShareInterval(double value, const std::vector<double>& replicates);

// Takes quantiles of draws, but never stops short of `value`. Without any it is
// no wider.
Interval IntervalOfDraws(double value, std::vector<double> draws);

// Ranks from 1; of equals the first ranks higher.
std::vector<int> RankByFalling(const std::vector<double>& values);

// Returns 1 or 0, by `values`, where there are no draws.
std::vector<double> Top3Probabilities(
    const std::vector<double>& values,
    const std::vector<std::vector<double>>& draws);

// Correlates by ranks a curve's order with how good its points are; NaN without
// points.
double DirectionOf(std::vector<double> losses);
// Takes values nearer than a fiftieth of the range as equal.
double ClearDirectionOf(std::vector<double> losses);

template <typename T>
void Shuffle(std::vector<T>& values, Rng& rng) {
  for (std::size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1], values[static_cast<std::size_t>(rng.Below(i))]);
  }
}

// Matrices of a few hundred rows lie by rows.

// Adds into several running sums, which keep the processor busy.
double Dot(const double* a, const double* b, std::size_t n);

// Sets products[i * b_rows + j] to row i of `a` times row j of `b`, both of
// `length`.
void RowProducts(const double* a, std::size_t a_rows, const double* b,
                 std::size_t b_rows, std::size_t length, double* products);

// Inverts the lower Cholesky factor; the upper half is 0. REQUIRES: `a` is
// symmetric and positive definite.
std::vector<double> InverseFactor(const std::vector<double>& a, std::size_t n);

// The eigenvalues and eigenvectors of a symmetric matrix.
struct EigenPairs {
  std::vector<double> values;
  std::vector<double> vectors;  // row k belongs to values[k]
};

// Rotates by Jacobi's method, deterministically; values are in no order.
EigenPairs SymmetricEigen(std::vector<double> a, std::size_t n);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_NUMBERS_H_
