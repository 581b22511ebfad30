// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/cell_density.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace frostline::sampler {
namespace {

// Rows can be divided by; nobody can tell such a likeness from none.
constexpr double kLeast = 1e-12;

}  // namespace

CellKernel::CellKernel(const CellAxis& axis, double width, double frozen_steps)
    : axis_(axis), width_(width), frozen_steps_(frozen_steps) {
  const std::size_t cells = axis_.cells();
  for (std::size_t bins = 0; !axis_.exact() && bins < CellAxis::kBins; ++bins) {
    const double z = static_cast<double>(bins) / CellAxis::kBins / width_;
    near_.push_back(std::exp(-0.5 * z * z));
  }
  rows_.resize(cells);
  up_to_.resize(cells);
  norm_.assign(cells, 0.0);
  const double other = cells > 1 ? Likeness(0, 1) : 0.0;
  for (std::size_t c = 0; c < cells; ++c) {
    if (!axis_.ordered()) {
      norm_[c] = axis_.prior(c) + (1.0 - axis_.prior(c)) * other;
      continue;
    }
    for (std::size_t x = 0; x < cells; ++x) {
      norm_[c] += axis_.prior(x) * Likeness(c, x);
    }
    // A center whose cells all have no prior: it says nothing.
    norm_[c] = std::max(norm_[c], 1e-300);
  }
}

double CellKernel::Likeness(std::size_t center, std::size_t x) const {
  if (!axis_.ordered()) {
    const double others = static_cast<double>(axis_.cells()) - 1.0;
    return center == x ? 1.0 : std::min(1.0, 3.0 * width_ / others);
  }
  if (center == x) return 1.0;
  const bool frozen = axis_.frozen() && (center == 0 || x == 0);
  if (!frozen && !near_.empty()) {
    return near_[center > x ? center - x : x - center];
  }
  double distance = std::abs(axis_.place(center) - axis_.place(x));
  if (frozen) {
    const std::size_t rate = std::max(center, x);
    distance =
        axis_.place(rate) - axis_.place(1) + frozen_steps_ * axis_.step();
  }
  const double z = distance / width_;
  return std::exp(-0.5 * z * z);
}

double CellKernel::Probability(Cell center, Cell x) const {
  return axis_.prior(x) * Likeness(center, x) / norm_[center];
}

const CellKernel::Row& CellKernel::RowOf(Cell x) {
  std::unique_ptr<Row>& row = rows_[x];
  if (row != nullptr) return *row;
  row = std::make_unique<Row>();
  row->ratio.resize(axis_.cells());
  double largest = 0.0;
  for (std::size_t c = 0; c < axis_.cells(); ++c) {
    row->ratio[c] = Likeness(c, x) / norm_[c];
    largest = std::max(largest, row->ratio[c]);
  }
  for (double& ratio : row->ratio) ratio = std::max(ratio / largest, kLeast);
  row->log_scale = std::log(largest);
  return *row;
}

Cell CellKernel::Draw(Cell center, Rng& rng) {
  std::vector<double>& up_to = up_to_[center];
  if (up_to.empty()) {
    double sum = 0.0;
    for (std::size_t x = 0; x < axis_.cells(); ++x) {
      sum += Probability(center, static_cast<Cell>(x));
      up_to.push_back(sum);
    }
  }
  const double u = rng.Uniform() * up_to.back();
  const auto found = std::upper_bound(up_to.begin(), up_to.end(), u);
  const auto cell = static_cast<std::size_t>(found - up_to.begin());
  return static_cast<Cell>(std::min(cell, axis_.cells() - 1));
}

KernelCache::KernelCache(const std::vector<CellAxis>& axes) : axes_(axes) {
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    std::size_t first = 0;
    while (!axes_[first].SameShape(axes_[a])) ++first;
    shape_.push_back(first);
  }
}

CellKernel& KernelCache::Get(std::size_t axis, double width,
                             double frozen_steps) {
  const std::size_t shape = shape_[axis];
  const int octave = static_cast<int>(std::lround(4.0 * std::log2(width)));
  if (!axes_[shape].frozen()) frozen_steps = 1.0;
  std::unique_ptr<CellKernel>& kernel = kernels_[{shape, octave, frozen_steps}];
  if (kernel == nullptr) {
    kernel = std::make_unique<CellKernel>(axes_[shape], std::exp2(octave / 4.0),
                                          frozen_steps);
  }
  return *kernel;
}

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

}  // namespace

double LogOf(double x) { return x > 0.0 ? std::log(x) : kNever; }

double LogAdd(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kNever ? a : a + std::log1p(std::exp(b - a));
}

void MultiplyBy(const AxisFactor& f, std::vector<double>& products) {
  for (std::size_t k = 0; k < products.size(); ++k) {
    products[k] *= f.row[f.centers[k]];
  }
}

// Four axes in one pass: the products are read and written once, not four
// times, which is most of the work of a proposal.
void MultiplyBy(const std::array<AxisFactor, kFactors>& f,
                std::vector<double>& products) {
  const auto [a, b, c, d] = f;
  for (std::size_t k = 0; k < products.size(); ++k) {
    products[k] *= (a.row[a.centers[k]] * b.row[b.centers[k]]) *
                   (c.row[c.centers[k]] * d.row[d.centers[k]]);
  }
}

// Four sums side by side: additions need not wait for each other.
double SumOfProducts(const double* a, const double* b, std::size_t size) {
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
