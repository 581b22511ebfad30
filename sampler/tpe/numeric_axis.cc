// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/numeric_axis.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "sampler/tpe/truncated_normal.h"

namespace frostline {
namespace {

// Rows of this many values are kept; an axis of more distinct ones is drawn
// from too rarely to gain.
constexpr std::size_t kMaxRows = 1024;

struct KernelHash {
  std::size_t operator()(const NumericKernel& kernel) const {
    const auto mu = std::bit_cast<std::uint64_t>(kernel.mu);
    const auto sigma = std::bit_cast<std::uint64_t>(kernel.sigma);
    return (mu * 0x9e3779b97f4a7c15u ^ sigma) * 0xff51afd7ed558ccdu >> 16;
  }
};
struct KernelEqual {
  bool operator()(const NumericKernel& a, const NumericKernel& b) const {
    return a.mu == b.mu && a.sigma == b.sigma;
  }
};

// Indices of `places` from low to high, equal ones as they stand. Levels are
// few and come again and again: counting them is faster than comparing.
std::vector<std::size_t> SortPlaces(const NumericRange& range,
                                    const std::vector<double>& places) {
  constexpr double kMostCells = 256;
  const double cells = range.log || range.step == 0.0
                           ? kMostCells + 1.0
                           : (range.box_hi - range.box_lo) / range.step;
  std::vector<std::size_t> order(places.size());
  if (cells > kMostCells) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&places](std::size_t a, std::size_t b) {
                       return places[a] < places[b];
                     });
    return order;
  }
  const auto cell = [&range](double place) {
    return static_cast<std::size_t>((place - range.box_lo) / range.step);
  };
  std::vector<std::size_t> next(static_cast<std::size_t>(cells) + 3, 0);
  for (const double place : places) ++next[cell(place) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (std::size_t k = 0; k < places.size(); ++k) {
    order[next[cell(places[k])]++] = k;
  }
  return order;
}

// A kernel reaches to the farther of its neighbours, the box's ends being
// neighbours too, unless it is the outermost of several. Never narrower than
// a share of the box that shrinks with the number of kernels ("magic clip").
double WidthOf(const NumericRange& range, const std::vector<double>& sorted,
               std::size_t i) {
  const std::size_t n = sorted.size();
  const double left =
      i > 0 ? sorted[i] - sorted[i - 1] : sorted[i] - range.box_lo;
  const double right =
      i + 1 < n ? sorted[i + 1] - sorted[i] : range.box_hi - sorted[i];
  double sigma = std::max(left, right);
  if (n >= 2 && i == 0) sigma = right;
  if (n >= 2 && i + 1 == n) sigma = left;
  const double width = range.box_hi - range.box_lo;
  return std::clamp(
      sigma, width / std::min(100.0, 2.0 + static_cast<double>(n)), width);
}

}  // namespace

std::vector<NumericKernel> FitKernels(const NumericRange& range,
                                      const std::vector<double>& observed) {
  std::vector<double> places;
  places.reserve(observed.size());
  for (const double value : observed) places.push_back(range.ToBox(value));
  return FitKernelsInOrder(range, places, SortPlaces(range, places));
}

std::vector<NumericKernel> FitKernelsInOrder(
    const NumericRange& range, const std::vector<double>& places,
    const std::vector<std::size_t>& order) {
  const std::size_t n = places.size();
  std::vector<double> sorted;
  sorted.reserve(n);
  for (const std::size_t k : order) sorted.push_back(places[k]);
  std::vector<NumericKernel> kernels(n + 1);
  for (std::size_t i = 0; i < n; ++i) {
    kernels[order[i]] = {sorted[i], WidthOf(range, sorted, i)};
  }
  kernels[n] = {0.5 * (range.box_lo + range.box_hi),
                range.box_hi - range.box_lo};
  return kernels;
}

NumericAxis::NumericAxis(const NumericRange& range,
                         const std::vector<NumericKernel>& kernels)
    : range_(range) {
  const bool shared = range_.step > 0.0;
  std::unordered_map<NumericKernel, std::uint32_t, KernelHash, KernelEqual>
      known;
  shape_of_.reserve(kernels.size());
  for (const NumericKernel& kernel : kernels) {
    const auto next = static_cast<std::uint32_t>(shapes_.size());
    std::uint32_t shape = next;
    if (shared) {
      shape = known.try_emplace(kernel, next).first->second;
    }
    if (shape == next) AddShape(kernel);
    shape_of_.push_back(shape);
  }
}

void NumericAxis::AddShape(const NumericKernel& kernel) {
  const double lo = (range_.box_lo - kernel.mu) / kernel.sigma;
  const double hi = (range_.box_hi - kernel.mu) / kernel.sigma;
  shapes_.push_back({kernel.mu, kernel.sigma, LogNormalMass(lo, hi)});
}

double NumericAxis::Draw(std::size_t kernel, Rng& rng) const {
  const Shape& shape = shapes_[shape_of_[kernel]];
  const double z = TruncatedNormalPpf(rng.Uniform(),
                                      (range_.box_lo - shape.mu) / shape.sigma,
                                      (range_.box_hi - shape.mu) / shape.sigma);
  return range_.FromBox(shape.mu + shape.sigma * z);
}

double NumericAxis::LogDensity(const Shape& shape, double value) const {
  if (range_.step > 0.0) {
    const double lo = range_.ToBox(value - range_.step / 2.0);
    const double hi = range_.ToBox(value + range_.step / 2.0);
    return LogNormalMass((lo - shape.mu) / shape.sigma,
                         (hi - shape.mu) / shape.sigma) -
           shape.log_mass;
  }
  const double z = (range_.ToBox(value) - shape.mu) / shape.sigma;
  return -z * z / 2.0 - kLogSqrtTwoPi - std::log(shape.sigma) - shape.log_mass;
}

void NumericAxis::AddLogDensity(double value, std::span<double> sums) {
  if (range_.step > 0.0 && row_of_value_.size() < kMaxRows) {
    std::vector<double>& row = row_of_value_[value];
    for (std::size_t s = row.size(); s < shapes_.size(); ++s) {
      row.push_back(LogDensity(shapes_[s], value));
    }
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += row[shape_of_[k]];
    return;
  }
  for (std::size_t k = 0; k < sums.size(); ++k) {
    sums[k] += LogDensity(shapes_[shape_of_[k]], value);
  }
}

}  // namespace frostline
