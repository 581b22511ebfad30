// SPDX-License-Identifier: Apache-2.0
//
// File: small_matrix.h
//
// Dense linear algebra for matrices of a few hundred rows, by rows.
// Deterministic.
#ifndef FROSTLINE_IMPORTANCE_MEASURE_SMALL_MATRIX_H_
#define FROSTLINE_IMPORTANCE_MEASURE_SMALL_MATRIX_H_

#include <cstddef>
#include <vector>

namespace frostline::importance {

// Several running sums keep the processor busy.
double Dot(const double* a, const double* b, std::size_t n);

// products[i * b_rows + j] = row i of `a` times row j of `b`, both of `length`.
void RowProducts(const double* a, std::size_t a_rows, const double* b,
                 std::size_t b_rows, std::size_t length, double* products);

// Of the lower Cholesky factor; the upper half is 0. REQUIRES: `a` is symmetric
// and positive definite.
std::vector<double> InverseFactor(const std::vector<double>& a, std::size_t n);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_SMALL_MATRIX_H_
