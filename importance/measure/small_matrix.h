// SPDX-License-Identifier: Apache-2.0
//
// File: small_matrix.h
//
// Matrices of a few hundred rows lie by rows.
#ifndef FROSTLINE_IMPORTANCE_MEASURE_SMALL_MATRIX_H_
#define FROSTLINE_IMPORTANCE_MEASURE_SMALL_MATRIX_H_

#include <cstddef>
#include <vector>

namespace frostline::importance {

// Adds into several running sums, which keep the processor busy.
double Dot(const double* a, const double* b, std::size_t n);

// Sets products[i * b_rows + j] to row i of `a` times row j of `b`, both of
// `length`.
void RowProducts(const double* a, std::size_t a_rows, const double* b,
                 std::size_t b_rows, std::size_t length, double* products);

// Inverts the lower Cholesky factor; the upper half is 0. REQUIRES: `a` is
// symmetric and positive definite.
std::vector<double> InverseFactor(const std::vector<double>& a, std::size_t n);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_SMALL_MATRIX_H_
