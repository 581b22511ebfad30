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

GramParts PartsOf(const AxisKernels& kernels, const Terms& terms,
                  const VectorXd& scales, const std::vector<Cells>& a,
                  const std::vector<Cells>& b) {
  const auto n = static_cast<Index>(a.size());
  const auto m = static_cast<Index>(b.size());
  const MatrixXd none = MatrixXd::Zero(n, m);
  GramParts parts{none, none, none, none, none};
  for (std::size_t axis = 0; axis < terms.axes; ++axis) {
    const MatrixXd k = kernels.Between(axis, a, b);
    const double main = std::exp(scales[MainScale(axis)]);
    const double joint = std::exp(scales[JointScale(axis, terms.axes)]);
    parts.e3.array() += joint * k.array() * parts.e2.array();
    parts.e2.array() += joint * k.array() * parts.e1.array();
    parts.e1 += joint * k;
    parts.main += main * k;
  }
  for (std::size_t p = 0; p < terms.pairs.size(); ++p) {
    const auto [first, second] = terms.pairs[p];
    const double factor = std::expm1(scales[PairScale(p, terms.axes)]) *
                          std::exp(scales[JointScale(first, terms.axes)] +
                                   scales[JointScale(second, terms.axes)]);
    parts.more += factor * kernels.Between(first, a, b)
                               .cwiseProduct(kernels.Between(second, a, b));
  }
  return parts;
}

double VarianceAt(const AxisKernels& kernels, const Terms& terms,
                  const VectorXd& scales, const Cells& at) {
  std::vector<double> joint(terms.axes);
  double main = 0.0, e1 = 0.0, e2 = 0.0, e3 = 0.0;
  for (std::size_t axis = 0; axis < terms.axes; ++axis) {
    const double k = kernels.table(axis)(at[axis], at[axis]);
    joint[axis] = k * std::exp(scales[JointScale(axis, terms.axes)]);
    e3 += joint[axis] * e2;
    e2 += joint[axis] * e1;
    e1 += joint[axis];
    main += k * std::exp(scales[MainScale(axis)]);
  }
  for (std::size_t p = 0; p < terms.pairs.size(); ++p) {
    e2 += std::expm1(scales[PairScale(p, terms.axes)]) *
          joint[terms.pairs[p].first] * joint[terms.pairs[p].second];
  }
  return main + e2 + std::exp(scales[kTriples]) * e3;
}

}  // namespace frostline::surrogate
