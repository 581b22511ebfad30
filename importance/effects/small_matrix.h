// SPDX-License-Identifier: Apache-2.0
//
// File: small_matrix.h
//
// The dense linear algebra that level effects need: square matrices of a few
// hundred rows, row after row in one vector. Deterministic.
#ifndef FROSTLINE_IMPORTANCE_EFFECTS_SMALL_MATRIX_H_
#define FROSTLINE_IMPORTANCE_EFFECTS_SMALL_MATRIX_H_

#include <cstddef>
#include <vector>

namespace frostline {

// Four running sums, so that the processor need not wait for one.
double Dot(const double* a, const double* b, std::size_t n);

// The inverse of the lower Cholesky factor of the symmetric matrix `a`, in its
// lower half, the upper one 0. REQUIRES: a is positive definite.
std::vector<double> InverseFactor(std::vector<double> a, std::size_t n);

struct Eigen {
  std::vector<double> values;
  std::vector<double> vectors;  // row k belongs to values[k]
};

// Of a symmetric matrix, by Jacobi's rotations; in no order.
Eigen SymmetricEigen(std::vector<double> a, std::size_t n);

}  // namespace frostline

#endif  // FROSTLINE_IMPORTANCE_EFFECTS_SMALL_MATRIX_H_
