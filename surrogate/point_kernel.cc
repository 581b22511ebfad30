// SPDX-License-Identifier: Apache-2.0
#include "surrogate/point_kernel.h"

#include <cmath>

#include "surrogate/surrogate_parts.h"

namespace frostline::surrogate {

Cells RowColumns::At(std::size_t row) const {
  Cells at;
  for (const auto& column : cells) at.push_back(column[row]);
  return at;
}

void RowColumns::Append(const Cells& at, double with_doubt) {
  cells.resize(at.size());
  for (std::size_t d = 0; d < at.size(); ++d) cells[d].push_back(at[d]);
  doubt.push_back(with_doubt);
}

PointKernel PointKernelOf(const Evidence& evidence, const Terms& terms) {
  const VectorXd& scales = evidence.scales();
  PointKernel kernel;
  kernel.noise = std::exp(scales[kNoise]);
  kernel.constant = kMeanVariance;
  kernel.triples = std::exp(scales[kTriples]);
  for (std::size_t a = 0; a < terms.axes; ++a) {
    kernel.main.push_back(std::exp(scales[MainScale(a)]));
    kernel.joint.push_back(std::exp(scales[JointScale(a, terms.axes)]));
    const MatrixXd& table = evidence.kernels().table(a);
    kernel.cells.push_back(static_cast<std::size_t>(table.cols()));
    kernel.tables.emplace_back(table.data(), table.data() + table.size());
  }
  for (std::size_t p = 0; p < terms.pairs.size(); ++p) {
    const auto [first, second] = terms.pairs[p];
    kernel.pairs.push_back(
        {first, second, std::expm1(scales[PairScale(p, terms.axes)])});
  }
  return kernel;
}

double VarianceAt(const PointKernel& kernel, const Cells& at) {
  std::vector<double> z(kernel.axes());
  double main = kernel.constant, e1 = 0.0, e2 = 0.0, e3 = 0.0;
  for (std::size_t a = 0; a < kernel.axes(); ++a) {
    const double k = kernel.Row(a, at)[at[a]];
    z[a] = kernel.joint[a] * k;
    main += kernel.main[a] * k;
    e3 += z[a] * e2;
    e2 += z[a] * e1;
    e1 += z[a];
  }
  for (const PointKernel::PairTerm& pair : kernel.pairs) {
    e2 += pair.more * z[pair.first] * z[pair.second];
  }
  return main + e2 + kernel.triples * e3;
}

PointSums::PointSums(const PointKernel& kernel, const RowColumns& rows,
                     const Cells& at, std::size_t count)
    : covariance(count, kernel.constant), e1(count, 0.0), e2(count, 0.0) {
  std::vector<double> e3(count, 0.0);
  for (std::size_t a = 0; a < kernel.axes(); ++a) {
    const double* const table = kernel.Row(a, at);
    const std::uint8_t* const cells = rows.cells[a].data();
    const double main = kernel.main[a], joint = kernel.joint[a];
    for (std::size_t i = 0; i < count; ++i) {
      const double k = table[cells[i]];
      const double z = joint * k;
      covariance[i] += main * k;
      e3[i] += z * e2[i];
      e2[i] += z * e1[i];
      e1[i] += z;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    covariance[i] += e2[i] + kernel.triples * e3[i];
  }
  for (const PointKernel::PairTerm& pair : kernel.pairs) {
    const double* const first = kernel.Row(pair.first, at);
    const double* const second = kernel.Row(pair.second, at);
    const double more =
        pair.more * kernel.joint[pair.first] * kernel.joint[pair.second];
    for (std::size_t i = 0; i < count; ++i) {
      covariance[i] += more * first[rows.cells[pair.first][i]] *
                       second[rows.cells[pair.second][i]];
    }
  }
}

}  // namespace frostline::surrogate
