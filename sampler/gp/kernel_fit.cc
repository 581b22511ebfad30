// SPDX-License-Identifier: Apache-2.0
#include "sampler/gp/kernel_fit.h"

#include <algorithm>
#include <cmath>

#include "sampler/gp/inverse_factor.h"

namespace frostline {
namespace {

// One evaluation of the posterior and what it leaves for the gradient.
class Evaluation {
 public:
  Evaluation(const std::vector<LevelAxis>& axes, const KernelRows& rows,
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

  double value() const { return value_; }

  KernelParameters Gradient() {
    const std::size_t axes = rows_.cells.size();
    KernelParameters gradient(kSharedParameters + 2 * axes, 0.0);
    FillSlopes();
    WalkPairs(gradient);
    for (std::size_t d = 0; d < axes; ++d) WalkAxis(d, gradient);
    return gradient;
  }

 private:
  double Covariance(std::size_t i, std::size_t j) const {
    return kernel_.TieOf(rows_.study[i], rows_.study[j]) *
           (parts_[i].sums[j] + kernel_.joint() * parts_[i].products[j]);
  }

  // slopes_[i][j] = dL/dK_ij + dL/dK_ji = α_i α_j - (K⁻¹)_ij for j < i.
  void FillSlopes() {
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
  void WalkPairs(KernelParameters& gradient) {
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

  void WalkAxis(std::size_t d, KernelParameters& gradient) {
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

  const KernelRows& rows_;
  LevelKernel kernel_;
  InverseFactor factor_;
  std::vector<KernelParts> parts_;
  std::vector<double> weights_;
  std::vector<std::vector<double>> slopes_;
  double diagonal_ = 0.0;
  double value_ = 0.0;
};

}  // namespace

KernelPrior UsualKernel(std::size_t axes) {
  KernelPrior prior;
  const auto add = [&prior](double mean, double deviation) {
    prior.mean.push_back(mean);
    prior.deviation.push_back(deviation);
  };
  add(std::log(0.05), 1.5);  // noise
  add(std::log(0.7), 1.0);   // additive
  add(std::log(0.3), 1.0);   // joint
  add(std::log(2.0), 0.7);   // strength
  add(std::log(3.0), 0.5);   // length
  add(0.5, 1.0);             // frozen tie
  add(0.0, 1.5);             // study tie
  for (std::size_t d = 0; d < axes; ++d) add(0.0, 1.0);
  for (std::size_t d = 0; d < axes; ++d) add(0.0, 0.3);
  return prior;
}

double LogPosterior(const std::vector<LevelAxis>& axes, const KernelRows& rows,
                    std::span<const double> targets, const KernelPrior& prior,
                    const KernelParameters& parameters,
                    KernelParameters& gradient) {
  Evaluation evaluation(axes, rows, targets, parameters);
  gradient = evaluation.Gradient();
  double value = evaluation.value();
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    if (prior.deviation[p] == 0.0) {
      gradient[p] = 0.0;
      continue;
    }
    const double off = (parameters[p] - prior.mean[p]) / prior.deviation[p];
    value -= 0.5 * off * off;
    gradient[p] -= off / prior.deviation[p];
  }
  return value;
}

KernelParameters FitKernel(const std::vector<LevelAxis>& axes,
                           const KernelRows& rows,
                           std::span<const double> targets,
                           const KernelPrior& prior, int steps) {
  KernelParameters at = prior.mean, best = at;
  KernelParameters gradient, before(at.size(), 0.0);
  std::vector<double> stride(at.size(), 0.3);
  double best_value = 0.0;
  for (int step = 0; step <= steps; ++step) {
    const double value = LogPosterior(axes, rows, targets, prior, at, gradient);
    if (step == 0 || value > best_value) {
      best_value = value;
      best = at;
    }
    for (std::size_t p = 0; p < at.size(); ++p) {
      const double agreement = gradient[p] * before[p];
      if (agreement > 0.0) stride[p] = std::min(stride[p] * 1.3, 1.0);
      if (agreement < 0.0) {
        stride[p] *= 0.5;
        gradient[p] = 0.0;  // the next step decides anew
      }
      if (gradient[p] > 0.0) at[p] += stride[p];
      if (gradient[p] < 0.0) at[p] -= stride[p];
      // Beyond 4 deviations nothing is learnt, only precision lost.
      const double reach = 4.0 * prior.deviation[p];
      at[p] = std::clamp(at[p], prior.mean[p] - reach, prior.mean[p] + reach);
    }
    before = gradient;
  }
  return best;
}

}  // namespace frostline
