// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/cell_kernel.h"

#include <algorithm>
#include <cmath>

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

}  // namespace frostline::sampler
