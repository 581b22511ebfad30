// SPDX-License-Identifier: Apache-2.0
#include "surrogate/standard_rows.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace frostline::surrogate {
namespace {

constexpr double kStudentFreedom = 10.0;
constexpr double kMostSpread = 400.0;

std::vector<std::size_t> All(std::size_t count) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

}  // namespace

std::vector<std::size_t> SpreadRows(const Rows& rows, std::size_t count,
                                    const std::stop_token& stop) {
  if (rows.size() <= count) return All(rows.size());
  const VectorXd scales = UsualScales(rows.axes.size(), 0).mean;
  const AxisKernels kernels(rows.axes, std::exp(scales[kLength]),
                            std::exp(scales[kGap]));
  const auto n = static_cast<Index>(rows.size());
  const auto m = static_cast<Index>(count);
  const double noise = std::exp(scales[kNoise]);
  const Terms terms{rows.axes.size(), {}};
  const auto with = [&](std::size_t row) -> VectorXd {
    return PartsOf(kernels, terms, scales, rows.cells, {rows.cells[row]})
        .Sum(std::exp(scales[kTriples]));
  };
  VectorXd left(n);
  for (Index i = 0; i < n; ++i) {
    left[i] = VarianceAt(kernels, terms, scales,
                         rows.cells[static_cast<std::size_t>(i)]);
  }
  MatrixXd factor = MatrixXd::Zero(n, m);
  std::vector<std::size_t> chosen;
  for (Index k = 0; k < m; ++k) {
    if (stop.stop_requested() && k > 0) break;
    Index at = 0;
    left.maxCoeff(&at);
    chosen.push_back(static_cast<std::size_t>(at));
    const double pivot = std::sqrt(std::max(left[at], 0.0) + noise);
    VectorXd column = with(static_cast<std::size_t>(at));
    column.noalias() -= factor.leftCols(k) * factor.row(at).head(k).transpose();
    factor.col(k) = column / pivot;
    left.array() -= factor.col(k).array().square();
    left[at] = -1.0;
    for (const std::size_t one : chosen) left[static_cast<Index>(one)] = -1.0;
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

Standardised Standardise(const Rows& rows, std::size_t most_rows,
                         const std::stop_token& stop) {
  Standardised made;
  made.used = SpreadRows(rows, most_rows, stop);
  const auto n = static_cast<Index>(made.used.size());
  VectorXd values(n);
  VectorXd doubt = VectorXd::Zero(n);
  made.rows.axes = rows.axes;
  made.rows.terms.axes = rows.axes.size();
  for (Index i = 0; i < n; ++i) {
    const std::size_t row = made.used[static_cast<std::size_t>(i)];
    values[i] = rows.values[row];
    if (!rows.doubt.empty()) doubt[i] = rows.doubt[row];
    made.rows.cells.push_back(rows.cells[row]);
  }
  made.middle = values.mean();
  values.array() -= made.middle;
  const double variance = values.squaredNorm() / static_cast<double>(n);
  made.scale = variance > 0.0 ? std::sqrt(variance) : 1.0;
  made.rows.values = values / made.scale;
  made.rows.doubt = doubt / (made.scale * made.scale);
  made.rows.spread = VectorXd::Ones(n);
  return made;
}

VectorXd SquaresOff(const Evidence& evidence) {
  const VectorXd noise = evidence.NoiseOfRows();
  MatrixXd inverse = MatrixXd::Identity(noise.size(), noise.size());
  evidence.factor().matrixL().solveInPlace(inverse);
  const VectorXd precision = inverse.colwise().squaredNorm();
  const VectorXd residual = noise.cwiseProduct(evidence.weights());
  const VectorXd unsure = noise - noise.cwiseAbs2().cwiseProduct(precision);
  return residual.cwiseAbs2() + unsure.cwiseMax(0.0);
}

void SpreadByResiduals(const Evidence& evidence, StandardRows& rows) {
  const VectorXd squares = SquaresOff(evidence);
  const double usual = std::exp(evidence.scales()[kNoise]);
  for (Index i = 0; i < squares.size(); ++i) {
    rows.spread[i] =
        std::min((kStudentFreedom + squares[i] / (usual + rows.doubt[i])) /
                     (kStudentFreedom + 1.0),
                 kMostSpread);
  }
}

}  // namespace frostline::surrogate
