// SPDX-License-Identifier: Apache-2.0
#include "surrogate/evidence.h"

#include <cmath>
#include <utility>

namespace frostline::surrogate {
namespace {

constexpr double kStep = 1e-4;  // of differences along length and gap
// Of the variance of all terms, so that rounding leaves A positive.
constexpr double kJitter = 1e-8;

}  // namespace

Evidence::Evidence(const StandardRows& rows, VectorXd scales)
    : rows_(rows),
      scales_(std::move(scales)),
      kernels_(rows.axes, std::exp(scales_[kLength]), std::exp(scales_[kGap])),
      parts_(PartsOf(kernels_, rows.terms, scales_, rows.cells, rows.cells)) {
  MatrixXd covariance = parts_.Sum(std::exp(scales_[kTriples]));
  const double jitter = kJitter * (1.0 + covariance.diagonal().mean());
  covariance.array() += kMeanVariance;
  covariance.diagonal() += NoiseOfRows();
  covariance.diagonal().array() += jitter;
  factor_.compute(covariance);
  if (factor_.info() != Eigen::Success) return;
  weights_ = factor_.solve(rows_.values);
  value_ = -0.5 * rows_.values.dot(weights_) -
           factor_.matrixLLT().diagonal().array().log().sum();
  ok_ = std::isfinite(value_);
}

VectorXd Evidence::NoiseOfRows() const {
  return ((rows_.doubt.array() + std::exp(scales_[kNoise])) *
          rows_.spread.array())
      .matrix();
}

// ∂A by the logarithm of a scale.
MatrixXd Evidence::SlopeOf(Index scale) const {
  const std::size_t axes = rows_.axes.size();
  const double triples = std::exp(scales_[kTriples]);
  if (scale == kTriples) return triples * parts_.e3;
  if (scale == kLength || scale == kGap) {
    VectorXd moved = scales_;
    moved[scale] += kStep;
    const AxisKernels kernels(rows_.axes, std::exp(moved[kLength]),
                              std::exp(moved[kGap]));
    const GramParts parts =
        PartsOf(kernels, rows_.terms, moved, rows_.cells, rows_.cells);
    return (parts.Sum(triples) - parts_.Sum(triples)) / kStep;
  }
  const auto place = static_cast<std::size_t>(scale - kSharedScales);
  if (place >= 2 * axes)
    return PairPart(rows_.terms.pairs[place - 2 * axes]) *
           std::exp(scales_[scale]);
  const std::size_t axis = place % axes;
  const MatrixXd k = std::exp(scales_[scale]) *
                     kernels_.Between(axis, rows_.cells, rows_.cells);
  if (place < axes) return k;
  // e2 and e3 without the axis: e1 - k, and e2 - k (e1 - k).
  const MatrixXd one = parts_.e1 - k;
  MatrixXd slope =
      (k.array() *
       (one.array() + triples * (parts_.e2.array() - k.array() * one.array())))
          .matrix();
  for (std::size_t p = 0; p < rows_.terms.pairs.size(); ++p) {
    const AxisPair& pair = rows_.terms.pairs[p];
    if (pair.first != axis && pair.second != axis) continue;
    slope += std::expm1(scales_[PairScale(p, axes)]) * PairPart(pair);
  }
  return slope;
}

// Of e2, what a pair has.
MatrixXd Evidence::PairPart(const AxisPair& pair) const {
  const std::size_t axes = rows_.axes.size();
  return std::exp(scales_[JointScale(pair.first, axes)] +
                  scales_[JointScale(pair.second, axes)]) *
         kernels_.Between(pair.first, rows_.cells, rows_.cells)
             .cwiseProduct(
                 kernels_.Between(pair.second, rows_.cells, rows_.cells));
}

// α αᵀ - A⁻¹: twice the slope of the evidence by each element of A.
MatrixXd Evidence::ValueSlopes() const {
  const Index n = rows_.values.size();
  MatrixXd inverse = MatrixXd::Identity(n, n);
  factor_.solveInPlace(inverse);
  return weights_ * weights_.transpose() - inverse;
}

std::vector<double> Evidence::PairGradients() const {
  const MatrixXd slopes = ValueSlopes();
  std::vector<double> gradients;
  for (std::size_t a = 0; a < rows_.axes.size(); ++a) {
    for (std::size_t b = a + 1; b < rows_.axes.size(); ++b) {
      gradients.push_back(0.5 * slopes.cwiseProduct(PairPart({a, b})).sum());
    }
  }
  return gradients;
}

Evidence::Slopes Evidence::SlopesWith(const MatrixXd& probes) const {
  const Index count = scales_.size();
  const MatrixXd slopes = ValueSlopes();
  const MatrixXd lifted = factor_.matrixU().solve(probes);
  Slopes found{VectorXd(count), MatrixXd(count, count)};
  MatrixXd looks(probes.size(), count);
  for (Index g = 0; g < count; ++g) {
    MatrixXd look;
    if (g == kNoise) {
      const VectorXd noise = std::exp(scales_[kNoise]) * rows_.spread;
      found.gradient[g] = 0.5 * slopes.diagonal().dot(noise);
      look = noise.asDiagonal() * lifted;
    } else {
      const MatrixXd slope = SlopeOf(g);
      found.gradient[g] = 0.5 * slopes.cwiseProduct(slope).sum();
      look.noalias() = slope * lifted;
    }
    factor_.matrixL().solveInPlace(look);
    looks.col(g) = Eigen::Map<const VectorXd>(look.data(), look.size());
  }
  found.curvature =
      0.5 / static_cast<double>(probes.cols()) * (looks.transpose() * looks);
  return found;
}

}  // namespace frostline::surrogate
