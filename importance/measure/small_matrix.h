// SPDX-License-Identifier: Apache-2.0
//
// File: small_matrix.h
//
// The dense linear algebra that level effects need: square matrices of a few
// hundred rows, row after row in one vector. Deterministic.
#ifndef FROSTLINE_IMPORTANCE_MEASURE_SMALL_MATRIX_H_
#define FROSTLINE_IMPORTANCE_MEASURE_SMALL_MATRIX_H_

#include <cstddef>
#include <vector>

namespace frostline::importance {

// Several running sums, so that the processor need not wait for one.
double Dot(const double* a, const double* b, std::size_t n);

// products[i * b_rows + j] becomes the product of row i of `a` with row j of
// `b`, both of `length`.
void RowProducts(const double* a, std::size_t a_rows, const double* b,
                 std::size_t b_rows, std::size_t length, double* products);

// The inverse of the lower Cholesky factor of the symmetric matrix `a`, in its
// lower half, the upper one 0. REQUIRES: a is positive definite.
std::vector<double> InverseFactor(const std::vector<double>& a, std::size_t n);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_SMALL_MATRIX_H_
