// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/cell_density.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace frostline {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr double kNever = -std::numeric_limits<double>::infinity();

double LogAdd(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kNever ? a : a + std::log1p(std::exp(b - a));
}

// What one axis contributes to the kernels' products.
struct Factor {
  const double* row = nullptr;    // by center
  const Cell* centers = nullptr;  // by kernel
};
constexpr std::size_t kFactors = 4;

// Four axes in one pass: the products are read and written once, not four
// times, which is most of the work of a proposal.
void MultiplyBy(const std::array<Factor, kFactors>& f,
                std::vector<double>& products) {
  const auto [a, b, c, d] = f;
  for (std::size_t k = 0; k < products.size(); ++k) {
    products[k] *= (a.row[a.centers[k]] * b.row[b.centers[k]]) *
                   (c.row[c.centers[k]] * d.row[d.centers[k]]);
  }
}

void MultiplyBy(const Factor& f, std::vector<double>& products) {
  for (std::size_t k = 0; k < products.size(); ++k) {
    products[k] *= f.row[f.centers[k]];
  }
}

// Four sums side by side: additions need not wait for each other.
double Dot(const double* a, const double* b, std::size_t size) {
  double sums[4] = {};
  std::size_t i = 0;
  for (; i + 4 <= size; i += 4) {
    for (std::size_t lane = 0; lane < 4; ++lane) {
      sums[lane] += a[i + lane] * b[i + lane];
    }
  }
  for (; i < size; ++i) sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

double LogOf(double x) { return x > 0.0 ? std::log(x) : kNever; }

}  // namespace

CellDensity::CellDensity(const std::vector<CellAxis>& axes,
                         std::vector<CellKernel*> kernels, Settings settings)
    : axes_(axes),
      kernels_(std::move(kernels)),
      settings_(settings),
      columns_(axes.size()),
      centers_(axes.size()),
      separate_(axes.size()),
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
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    const std::size_t cells = axes_[a].cells();
    centers_[a].assign(cells + 1, 0.0);
    for (std::size_t k = 0; k < weights_.size(); ++k) {
      centers_[a][columns_[a][k]] += weights_[k];
    }
    separate_[a].assign(cells, kUnknown);
    // Only trials in which the parameter had a value speak for it.
    const double present = sum - centers_[a][cells];
    for (double& weight : centers_[a]) weight /= present;
    centers_[a][cells] = settings_.prior_weight / present;
  }
  mass_ = sum;
  double up_to = 0.0;
  for (double& weight : weights_) {
    weight /= sum;
    up_to_.push_back(up_to += weight);
  }
}

double CellDensity::LogSeparate(std::size_t axis, Cell x) {
  double& log_q = separate_[axis][x];
  if (!std::isnan(log_q)) return log_q;
  const CellKernel::Row& row = kernels_[axis]->RowOf(x);
  const std::vector<double>& centers = centers_[axis];
  const double dot = Dot(centers.data(), row.ratio.data(), row.ratio.size());
  log_q = std::log(centers.back() + dot * std::exp(row.log_scale));
  return log_q;
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

double CellDensity::LogRatio(const Cells& x) {
  products_ = weights_;
  log_scale_ = 0.0;
  log_separate_ = 0.0;
  std::array<Factor, kFactors> factors;
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

void CellDensity::LogRatiosOfMoves(const Cells& x, std::size_t axis,
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

}  // namespace frostline
