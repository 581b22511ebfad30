// SPDX-License-Identifier: Apache-2.0
//
// File: symmetric_eigen.h
#ifndef FROSTLINE_IMPORTANCE_MEASURE_SYMMETRIC_EIGEN_H_
#define FROSTLINE_IMPORTANCE_MEASURE_SYMMETRIC_EIGEN_H_

#include <cstddef>
#include <vector>

namespace frostline::importance {

struct Eigen {
  std::vector<double> values;
  std::vector<double> vectors;  // row k belongs to values[k]
};

// Rotates by Jacobi's method, deterministically; values are in no order.
Eigen SymmetricEigen(std::vector<double> a, std::size_t n);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_SYMMETRIC_EIGEN_H_
