// SPDX-License-Identifier: Apache-2.0
//
// File: symmetric_eigen.h
//
// Eigenvectors of small symmetric matrices. Deterministic.
#ifndef FROSTLINE_IMPORTANCE_MEASURE_SYMMETRIC_EIGEN_H_
#define FROSTLINE_IMPORTANCE_MEASURE_SYMMETRIC_EIGEN_H_

#include <cstddef>
#include <vector>

namespace frostline::importance {

struct Eigen {
  std::vector<double> values;
  std::vector<double> vectors;  // row k belongs to values[k]
};

// By Jacobi's rotations; in no order.
Eigen SymmetricEigen(std::vector<double> a, std::size_t n);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_SYMMETRIC_EIGEN_H_
