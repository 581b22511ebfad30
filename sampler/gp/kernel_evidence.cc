// SPDX-License-Identifier: Apache-2.0
#include "sampler/gp/kernel_evidence.h"

#include <cmath>

namespace frostline {

KernelEvidence::KernelEvidence(const std::vector<LevelAxis>& axes,
                               const KernelRows& rows,
                               std::span<const double> targets,
                               const KernelParameters& parameters)
    : rows_(rows), kernel_(axes, parameters) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Cells at = rows.At(i);
    parts_.push_back(kernel_.PartsWith(at, rows, i));
    std::vector<double> covariance(i);
    for (std::size_t j = 0; j < i; ++j) covariance[j] = Covariance(i, j);
    factor_.Append(covariance,
                   kernel_.variance() + kernel_.noise() + rows.doubt[i]);
  }
  const std::vector<double> whitened = factor_.Multiply(targets);
  weights_ = factor_.MultiplyTransposed(whitened);
  value_ = -0.5 * Dot(whitened, whitened);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    value_ -= std::log(factor_.pivot(i));
  }
}

KernelParameters KernelEvidence::Gradient() {
  const std::size_t axes = rows_.cells.size();
  KernelParameters gradient(kSharedParameters + 2 * axes, 0.0);
  FillSlopes();
  WalkPairs(gradient);
  for (std::size_t d = 0; d < axes; ++d) WalkAxis(d, gradient);
  return gradient;
}

double KernelEvidence::Covariance(std::size_t row, std::size_t other) const {
  return kernel_.TieOf(rows_.study[row], rows_.study[other]) *
         (parts_[row].sums[other] +
          kernel_.joint() * parts_[row].products[other]);
}

void KernelEvidence::FillSlopes() {
  const std::size_t n = rows_.size();
  slopes_.assign(n, {});
  for (std::size_t i = 0; i < n; ++i) {
    slopes_[i].resize(i + 1);
    for (std::size_t j = 0; j <= i; ++j) {
      slopes_[i][j] = weights_[i] * weights_[j];
    }
  }
  for (std::size_t m = 0; m < n; ++m) {
    const std::span<const double> w = factor_.row(m);
    for (std::size_t i = 0; i <= m; ++i) {
      const double scale = w[i];
      double* const slopes = slopes_[i].data();
      for (std::size_t j = 0; j <= i; ++j) slopes[j] -= scale * w[j];
    }
  }
}

// Parameters that no single axis has, and slopes times ties from here on.
void KernelEvidence::WalkPairs(KernelParameters& gradient) {
  const double tie = kernel_.study_tie();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const double own = 0.5 * slopes_[i][i];
    diagonal_ += own;
    gradient[kNoise] += own * kernel_.noise();
    gradient[kJoint] += own * kernel_.joint();
    for (std::size_t j = 0; j < i; ++j) {
      double& slope = slopes_[i][j];
      if (rows_.study[i] != rows_.study[j]) {
        gradient[kStudyTie] += slope * Covariance(i, j) * (1.0 - tie);
        slope *= tie;
      }
      const double joint = slope * kernel_.joint() * parts_[i].products[j];
      gradient[kJoint] += joint;
      parts_[i].products[j] = joint;  // what is left to know of it
    }
  }
}

void KernelEvidence::WalkAxis(std::size_t d, KernelParameters& gradient) const {
  const AxisTable& table = kernel_.table(d);
  const std::vector<std::uint8_t>& cells = rows_.cells[d];
  std::vector<double> sum(table.base.size(), 0.0);
  std::vector<double> product(table.base.size(), 0.0);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const std::size_t at = cells[i] * table.cells;
    const double* const slopes = slopes_[i].data();
    const double* const joints = parts_[i].products.data();
    for (std::size_t j = 0; j < i; ++j) {
      sum[at + cells[j]] += slopes[j];
      product[at + cells[j]] += joints[j];
    }
  }
  double by_additive = table.additive * diagonal_, by_strength = 0.0;
  double by_length = 0.0, by_tie = 0.0;
  for (std::size_t k = 0; k < sum.size(); ++k) {
    const double joint = product[k] / table.factor[k];
    const double outer = table.additive * sum[k] + table.strength * joint;
    by_additive += table.additive * sum[k] * table.base[k];
    by_strength += joint * (table.base[k] - 1.0);
    by_length += outer * table.by_length[k];
    by_tie += outer * table.by_frozen_tie[k];
  }
  // s = 1 - exp(-t), so ds/d(ln t) = t (1 - s).
  by_strength *= -std::log1p(-table.strength) * (1.0 - table.strength);
  gradient[kAdditive] += by_additive;
  gradient[kStrength] += by_strength;
  gradient[kLength] += by_length;
  gradient[kFrozenTie] += by_tie;
  gradient[kSharedParameters + d] = by_additive + by_strength;
  gradient[kSharedParameters + rows_.cells.size() + d] = by_length;
}

}  // namespace frostline
