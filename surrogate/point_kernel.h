// SPDX-License-Identifier: Apache-2.0
//
// File: point_kernel.h
#ifndef FROSTLINE_SURROGATE_POINT_KERNEL_H_
#define FROSTLINE_SURROGATE_POINT_KERNEL_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "surrogate/axis.h"
#include "surrogate/rows.h"

namespace frostline::surrogate {

struct PointKernel {
  struct PairTerm {  // what a pair's own factor adds
    std::size_t first = 0;
    std::size_t second = 0;
    double more = 0.0;
    bool operator==(const PairTerm& other) const = default;
  };

  double noise = 0.0;
  double constant = 0.0;     // how far the mean is known
  double triples = 0.0;      // factor of e3
  std::vector<double> main;  // variances, by axis
  std::vector<double> joint;
  std::vector<PairTerm> pairs;
  std::vector<std::size_t> cells;  // how many
  std::vector<CellTable> tables;

  std::size_t axes() const { return cells.size(); }
  // Is K between the point's cell and each.
  const double* Row(std::size_t axis, const Cells& at) const {
    return tables[axis].data() + at[axis] * cells[axis];
  }
  bool operator==(const PointKernel& other) const = default;
};

struct RowColumns {
  std::vector<std::vector<std::uint8_t>> cells;  // [axis][row]
  std::vector<double> doubt;  // variance beside the common noise

  std::size_t size() const { return doubt.size(); }
  Cells At(std::size_t row) const;
  void Append(const Cells& at, double with_doubt);
  bool operator==(const RowColumns& other) const = default;
};

// Includes the mean, not the noise.
double VarianceAt(const PointKernel& kernel, const Cells& at);

// Holds covariances with the first `count` rows, and two sums of theirs
// (gram.h).
struct PointSums {
  PointSums() = default;
  PointSums(const PointKernel& kernel, const RowColumns& rows, const Cells& at,
            std::size_t count);

  std::vector<double> covariance;
  std::vector<double> e1;
  std::vector<double> e2;
};

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_POINT_KERNEL_H_
