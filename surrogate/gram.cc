// SPDX-License-Identifier: Apache-2.0
#include "surrogate/gram.h"

#include <cmath>

namespace frostline::surrogate {

AxisKernels::AxisKernels(const std::vector<Axis>& axes, double length,
                         double gap) {
  tables_.reserve(axes.size());
  for (const Axis& axis : axes) {
    const auto n = static_cast<Index>(axis.cells());
    const CellTable table = KernelOf(axis, length, gap);
    tables_.emplace_back(Eigen::Map<const MatrixXd>(table.data(), n, n));
  }
}

MatrixXd AxisKernels::Between(std::size_t axis, const std::vector<Cells>& a,
                              const std::vector<Cells>& b) const {
  const MatrixXd& table = tables_[axis];
  // Rows of the table by rows of a: columns of the answer are columns of it.
  MatrixXd rows(static_cast<Index>(a.size()), table.cols());
  for (std::size_t i = 0; i < a.size(); ++i) {
    rows.row(static_cast<Index>(i)) = table.row(a[i][axis]);
  }
  MatrixXd between(rows.rows(), static_cast<Index>(b.size()));
  for (std::size_t j = 0; j < b.size(); ++j) {
    between.col(static_cast<Index>(j)) = rows.col(b[j][axis]);
  }
  return between;
}

GramParts PartsOf(const AxisKernels& kernels, const VectorXd& scales,
                  const std::vector<Cells>& a, const std::vector<Cells>& b,
                  std::size_t axes) {
  const auto n = static_cast<Index>(a.size());
  const auto m = static_cast<Index>(b.size());
  GramParts parts{MatrixXd::Zero(n, m), MatrixXd::Zero(n, m),
                  MatrixXd::Zero(n, m), MatrixXd::Zero(n, m)};
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const MatrixXd k = kernels.Between(axis, a, b);
    const double main = std::exp(scales[MainScale(axis)]);
    const double joint = std::exp(scales[JointScale(axis, axes)]);
    parts.e3.array() += joint * k.array() * parts.e2.array();
    parts.e2.array() += joint * k.array() * parts.e1.array();
    parts.e1 += joint * k;
    parts.main += main * k;
  }
  return parts;
}

}  // namespace frostline::surrogate
