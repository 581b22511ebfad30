// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/cell_density.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "sampler/tpe/kernel_products.h"

namespace frostline::sampler {

CellDensity::CellDensity(const std::vector<CellAxis>& axes,
                         std::vector<CellKernel*> kernels, Settings settings)
    : axes_(axes),
      kernels_(std::move(kernels)),
      settings_(settings),
      columns_(axes.size()),
      has_absent_(axes.size(), false),
      scratch_(axes.size()) {}

void CellDensity::Add(std::span<const Cell> cells, double weight) {
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    const bool absent = cells[a] == kNoCell;
    if (absent) has_absent_[a] = true;
    // Absent ones look up the entry behind the last cell.
    columns_[a].push_back(absent ? static_cast<Cell>(axes_[a].cells())
                                 : cells[a]);
  }
  weights_.push_back(weight);
}

void CellDensity::Reserve(std::size_t trials) {
  for (std::vector<Cell>& column : columns_) column.reserve(trials);
  weights_.reserve(trials);
}

void CellDensity::Finish() {
  double sum = settings_.prior_weight;
  for (const double weight : weights_) sum += weight;
  separate_.Finish(axes_, columns_, weights_, settings_.prior_weight, sum);
  mass_ = sum;
  double up_to = 0.0;
  for (double& weight : weights_) {
    weight /= sum;
    up_to_.push_back(up_to += weight);
  }
}

double CellDensity::LogSeparate(std::size_t axis, Cell x) {
  return separate_.LogRatio(axis, x, *kernels_[axis]);
}

Cell CellDensity::At(std::size_t axis, std::size_t kernel) const {
  const Cell cell = columns_[axis][kernel];
  return cell == axes_[axis].cells() ? kNoCell : cell;
}

std::span<const double> CellDensity::Row(std::size_t axis, Cell x) {
  const CellKernel::Row& row = kernels_[axis]->RowOf(x);
  if (!has_absent_[axis]) return row.ratio;
  std::vector<double>& copy = scratch_[axis];
  copy.assign(row.ratio.begin(), row.ratio.end());
  copy.push_back(std::exp(LogSeparate(axis, x) - row.log_scale));
  return copy;
}

double CellDensity::Mix(double log_together, double log_separate) const {
  const double a = settings_.separate_share;
  const double prior =
      up_to_.empty() ? 1.0 : std::max(0.0, 1.0 - up_to_.back());
  return LogAdd(LogOf(1.0 - a) + LogAdd(log_together, LogOf(prior)),
                LogOf(a) + log_separate);
}

double CellDensity::LogRatio(const CellRow& x) {
  products_ = weights_;
  log_scale_ = 0.0;
  log_separate_ = 0.0;
  std::array<AxisFactor, kFactors> factors;
  std::size_t waiting = 0;
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    if (x[a] == kNoCell) continue;
    factors[waiting++] = {Row(a, x[a]).data(), columns_[a].data()};
    if (waiting == kFactors) {
      MultiplyBy(factors, products_);
      waiting = 0;
    }
    log_scale_ += kernels_[a]->RowOf(x[a]).log_scale;
    log_separate_ += LogSeparate(a, x[a]);
  }
  for (std::size_t f = 0; f < waiting; ++f) MultiplyBy(factors[f], products_);
  double sum = 0.0;
  for (const double product : products_) sum += product;
  return Mix(LogOf(sum) + log_scale_, log_separate_);
}

void CellDensity::LogRatiosOfMoves(const CellRow& x, std::size_t axis,
                                   std::vector<double>& out) {
  const std::size_t cells = axes_[axis].cells();
  // What every center would contribute if the axis did not count.
  std::vector<double> others(cells + 1, 0.0);
  const std::span<const double> row = Row(axis, x[axis]);
  std::vector<double> inverse(row.begin(), row.end());
  for (double& ratio : inverse) ratio = 1.0 / ratio;
  for (std::size_t k = 0; k < products_.size(); ++k) {
    const Cell center = columns_[axis][k];
    others[center] += products_[k] * inverse[center];
  }
  const double scale = log_scale_ - kernels_[axis]->RowOf(x[axis]).log_scale;
  const double separate = log_separate_ - LogSeparate(axis, x[axis]);
  out.resize(cells);
  for (std::size_t v = 0; v < cells; ++v) {
    const auto cell = static_cast<Cell>(v);
    const std::span<const double> moved = Row(axis, cell);
    double sum = 0.0;
    for (std::size_t c = 0; c < moved.size(); ++c) sum += others[c] * moved[c];
    out[v] = Mix(LogOf(sum) + scale + kernels_[axis]->RowOf(cell).log_scale,
                 separate + LogSeparate(axis, cell));
  }
}

std::size_t CellDensity::DrawKernel(Rng& rng) const {
  const auto found =
      std::upper_bound(up_to_.begin(), up_to_.end(), rng.Uniform());
  return static_cast<std::size_t>(found - up_to_.begin());
}

}  // namespace frostline::sampler
