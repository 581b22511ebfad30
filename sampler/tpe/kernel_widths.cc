// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/kernel_widths.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace frostline::sampler {
namespace {

// The variance of a uniform variable, in squared boxes.
constexpr double kUniformVariance = 1.0 / 12.0;
// Of good kernels in spreads, of bad ones in boxes.
constexpr double kGoodWidth = 0.8;
constexpr double kRestWidth = 0.1;
constexpr double kLeastSteps = 0.4;
constexpr double kLeastShare = 0.01;
constexpr std::array kFrozenSteps = {0.5, 1.0, 2.0, 4.0, 8.0};

double LeastWidth(const CellAxis& axis) {
  return axis.exact() ? kLeastSteps * axis.step() : kLeastShare;
}

// `all` trials lie on the axis, `count` of them in each cell; each is foretold
// from the others and the prior.
void AddLogLikelihood(CellKernel& kernel, const std::vector<double>& count,
                      double all, double& log_likelihood) {
  for (std::size_t x = 0; x < count.size(); ++x) {
    if (count[x] == 0.0) continue;
    const CellKernel::Row& row = kernel.RowOf(static_cast<Cell>(x));
    double others = -row.ratio[x];
    for (std::size_t c = 0; c < count.size(); ++c) {
      others += count[c] * row.ratio[c];
    }
    const double density = std::max(0.0, others) * std::exp(row.log_scale);
    log_likelihood += count[x] * std::log((density + 1.0) / all);
  }
}

}  // namespace

// The spread of the good trials' values counts them and one uniform draw.
double GoodWidth(const CellAxis& axis, std::size_t index,
                 const std::vector<WeightedCells>& good) {
  double sum = 0.0, mean = 0.0, square = 0.0, count = 0.0;
  for (const WeightedCells& trial : good) {
    const Cell cell = trial.cells[index];
    if (cell == kNoCell || (axis.frozen() && !axis.exact() && cell == 0)) {
      continue;
    }
    const double place = axis.place(cell);
    sum += trial.weight;
    mean += trial.weight * place;
    square += trial.weight * place * place;
    count += 1.0;
  }
  double variance = kUniformVariance;
  if (count > 0.0) {
    mean /= sum;
    variance += count * std::max(0.0, square / sum - mean * mean);
  }
  const double spread = std::sqrt(variance / (count + 1.0));
  const double width =
      kGoodWidth * spread * std::pow(std::max(1.0, count), -0.2);
  return std::max(width, LeastWidth(axis));
}

double RestWidth(const CellAxis& axis) {
  return std::max(kRestWidth, LeastWidth(axis));
}

double LearnFrozenSteps(const std::vector<CellAxis>& axes, KernelCache& kernels,
                        const std::vector<WeightedCells>& good,
                        const std::vector<double>& widths) {
  std::array<double, kFrozenSteps.size()> log_likelihood{};
  std::vector<double> count;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    if (!axes[a].frozen()) continue;
    double all = 0.0;
    count.assign(axes[a].cells(), 0.0);
    for (const WeightedCells& trial : good) {
      if (trial.cells[a] == kNoCell) continue;
      count[trial.cells[a]] += 1.0;
      all += 1.0;
    }
    // Nothing was near: nothing to learn.
    if (count[0] == 0.0 && count[1] == 0.0) continue;
    for (std::size_t s = 0; s < kFrozenSteps.size(); ++s) {
      AddLogLikelihood(kernels.Get(a, widths[a], kFrozenSteps[s]), count, all,
                       log_likelihood[s]);
    }
  }
  std::size_t best = 0;
  for (std::size_t s = 0; s < kFrozenSteps.size(); ++s) {
    log_likelihood[s] -= 0.5 * std::abs(std::log2(kFrozenSteps[s] / 2.0));
    if (log_likelihood[s] > log_likelihood[best]) best = s;
  }
  return kFrozenSteps[best];
}

}  // namespace frostline::sampler
