// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/separate_mixture.h"

#include <cmath>
#include <limits>

#include "sampler/tpe/kernel_products.h"

namespace frostline::sampler {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void SeparateMixture::Finish(const std::vector<CellAxis>& axes,
                             const std::vector<std::vector<Cell>>& columns,
                             const std::vector<double>& weights, double prior,
                             double sum) {
  centers_.resize(axes.size());
  log_ratios_.resize(axes.size());
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const std::size_t cells = axes[a].cells();
    centers_[a].assign(cells + 1, 0.0);
    for (std::size_t k = 0; k < weights.size(); ++k) {
      centers_[a][columns[a][k]] += weights[k];
    }
    log_ratios_[a].assign(cells, kUnknown);
    // Only trials in which the parameter had a value speak for it.
    const double present = sum - centers_[a][cells];
    for (double& weight : centers_[a]) weight /= present;
    centers_[a][cells] = prior / present;
  }
}

double SeparateMixture::LogRatio(std::size_t axis, Cell x, CellKernel& kernel) {
  double& log_ratio = log_ratios_[axis][x];
  if (!std::isnan(log_ratio)) return log_ratio;
  const CellKernel::Row& row = kernel.RowOf(x);
  const std::vector<double>& centers = centers_[axis];
  const double near =
      SumOfProducts(centers.data(), row.ratio.data(), row.ratio.size());
  log_ratio = std::log(centers.back() + near * std::exp(row.log_scale));
  return log_ratio;
}

}  // namespace frostline::sampler
