// SPDX-License-Identifier: Apache-2.0
#include "sampler/optuna/compat_mixture.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "sampler/optuna/numpy.h"

namespace frostline::sampler {
namespace {

const double kLogSqrtOfTwoPi = std::log(std::sqrt(2.0 * std::numbers::pi));

// Φ in three pieces, each accurate where it is used.
double CompatNormalCdf(double x) {
  const double z = x / std::numbers::sqrt2;
  constexpr double kEdge = 1.0 / std::numbers::sqrt2;
  if (z < -kEdge) return 0.5 * std::erfc(-z);
  if (z < kEdge) return 0.5 + 0.5 * std::erf(z);
  return 1.0 - 0.5 * std::erfc(z);
}

// ln Φ far left by its asymptotic series (Abramowitz and Stegun, 26.2.12).
double CompatLogCdfFarLeft(double x) {
  const double lead =
      -0.5 * (x * x) - std::log(-x) - 0.5 * std::log(2.0 * std::numbers::pi);
  const double inverse_square = 1.0 / (x * x);
  double before = 0.0, sum = 1.0, numerator = 1.0, factor = 1.0, sign = 1.0;
  for (int i = 1;
       std::abs(before - sum) > std::numeric_limits<double>::epsilon(); ++i) {
    before = sum;
    sign = -sign;
    factor *= inverse_square;
    numerator *= 2 * i - 1;
    sum += sign * numerator * factor;
  }
  return lead + std::log(sum);
}

double LogCdf(double x) {
  if (x > 6.0) return -CompatNormalCdf(-x);
  if (x > -20.0) return std::log(CompatNormalCdf(x));
  return CompatLogCdfFarLeft(x);
}

// REQUIRES: b <= 0.
double LogMassLeft(double a, double b) {
  const double whole = LogCdf(b);
  return whole + std::log1p(-std::exp(LogCdf(a) - whole));
}

// numpy.logaddexp.
double CompatLogSum(double x, double y) {
  if (x == y) return x + std::numbers::ln2;
  const double gap = x - y;
  return gap > 0.0 ? x + std::log1p(std::exp(-gap))
                   : y + std::log1p(std::exp(gap));
}

double FirstGuess(double z) {
  if (z < -5.0) return -std::sqrt(-2.0 * (z + kLogSqrtOfTwoPi));
  const double scale = std::sqrt(3.0) / std::numbers::pi;
  return -scale * std::log(std::expm1(-z));
}

// Returns the x with ln Φ(x) = y for every y, by Newton's method on all of them
// until none moves.
std::vector<double> InverseLogCdf(const std::vector<double>& targets) {
  std::vector<double> z, x;
  for (const double y : targets) {
    z.push_back(y > -1e-2 ? std::log(-std::expm1(y)) : y);
    x.push_back(FirstGuess(z.back()));
  }
  bool moves = true;
  for (int round = 0; round < 100 && moves; ++round) {
    moves = false;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double value = LogCdf(x[i]);
      const double slope = -0.5 * (x[i] * x[i]) - kLogSqrtOfTwoPi;
      const double step = (value - z[i]) * std::exp(value - slope);
      x[i] -= step;
      moves |= !(std::abs(step) < 1e-8 * std::abs(x[i]));
    }
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (targets[i] > -1e-2) x[i] = -x[i];
  }
  return x;
}

}  // namespace

double CompatLogMass(double a, double b) {
  if (b <= 0.0) return LogMassLeft(a, b);
  if (a > 0.0) return LogMassLeft(-b, -a);
  const auto cdf = [](double x) {
    return 0.5 + 0.5 * std::erf(x / std::numbers::sqrt2);
  };
  return std::log1p(-cdf(a) - cdf(-b));
}

double CompatLogPdf(double x) { return -(x * x) / 2.0 - kLogSqrtOfTwoPi; }

std::vector<double> CompatPpf(const std::vector<CompatQuantile>& quantiles) {
  // Those that begin left of the middle and those that do not are two rounds.
  std::vector<double> left, right;
  for (const CompatQuantile& one : quantiles) {
    const double log_mass = CompatLogMass(one.a, one.b);
    if (one.a < 0.0) {
      left.push_back(
          CompatLogSum(LogCdf(one.a), std::log(one.share) + log_mass));
    } else {
      right.push_back(
          CompatLogSum(LogCdf(-one.b), std::log1p(-one.share) + log_mass));
    }
  }
  left = InverseLogCdf(left);
  right = InverseLogCdf(right);
  std::vector<double> values;
  values.reserve(quantiles.size());
  auto next_left = left.begin(), next_right = right.begin();
  for (const CompatQuantile& one : quantiles) {
    const double x = one.a < 0.0 ? *next_left++ : -*next_right++;
    const double value = one.share == 0.0 ? one.a : x;
    values.push_back(
        std::clamp(std::isnan(value) ? one.a : value, one.a, one.b));
  }
  return values;
}

namespace {

// Returns the width of a kernel. It reaches to the farther of its neighbours;
// the box's ends are neighbours too, unless it is the outermost of several. It
// is never narrower than a share of the box that shrinks with the number of
// kernels
// ("magic clip").
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

// `order`: indices of the places from low to high.
std::vector<NumericKernel> FitInOrder(const NumericRange& range,
                                      const std::vector<double>& places,
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

}  // namespace

std::vector<NumericKernel> FitCompatKernels(const NumericRange& range,
                                            const std::vector<double>& observed,
                                            KernelWidth width,
                                            std::size_t together) {
  std::vector<double> places;
  places.reserve(observed.size());
  for (const double value : observed) places.push_back(range.ToBox(value));
  std::vector<NumericKernel> kernels =
      FitInOrder(range, places, NumpyArgSort(places));
  if (width == KernelWidth::kNeighbours) return kernels;
  const auto n = static_cast<double>(observed.size());
  const double box = range.box_hi - range.box_lo;
  const double shared =
      0.2 *
      std::pow(std::max(n, 1.0), -1.0 / (static_cast<double>(together) + 4.0)) *
      box;
  const double sigma = std::clamp(shared, box / std::min(100.0, n + 2.0), box);
  for (std::size_t k = 0; k < observed.size(); ++k) kernels[k].sigma = sigma;
  return kernels;
}

std::vector<double> CompatWeights(std::size_t observations) {
  constexpr std::size_t kRemembered = 25;
  std::vector<double> weights(observations, 1.0);
  if (observations <= kRemembered) return weights;
  const std::size_t old = observations - kRemembered;
  const double first = 1.0 / static_cast<double>(observations);
  if (old == 1) {
    weights[0] = first;
    return weights;
  }
  const double step = (1.0 - first) / static_cast<double>(old - 1);
  for (std::size_t i = 0; i + 1 < old; ++i) {
    weights[i] = static_cast<double>(i) * step + first;
  }
  return weights;
}

CompatCells::CompatCells(const NumericRange& range,
                         const std::vector<NumericKernel>& kernels)
    : range_(range) {
  std::map<std::pair<double, double>, std::uint32_t> known;
  shape_of_.reserve(kernels.size());
  for (const NumericKernel& kernel : kernels) {
    const auto next = static_cast<std::uint32_t>(shapes_.size());
    const std::uint32_t shape =
        known.try_emplace({kernel.mu, kernel.sigma}, next).first->second;
    shape_of_.push_back(shape);
    if (shape != next) continue;
    shapes_.push_back(kernel);
    log_box_.push_back(
        CompatLogMass((range_.box_lo - kernel.mu) / kernel.sigma,
                      (range_.box_hi - kernel.mu) / kernel.sigma));
  }
}

CompatLine::CompatLine(const NumericRange& range,
                       const std::vector<NumericKernel>& kernels)
    : range_(range) {
  kernels_.reserve(kernels.size());
  for (const NumericKernel& kernel : kernels) {
    const double a = (range_.box_lo - kernel.mu) / kernel.sigma;
    const double b = (range_.box_hi - kernel.mu) / kernel.sigma;
    kernels_.push_back({kernel, CompatLogMass(a, b), std::log(kernel.sigma)});
  }
}

void CompatLine::AddLogDensity(double value, std::span<double> sums) const {
  const double place = range_.ToBox(value);
  for (std::size_t k = 0; k < sums.size(); ++k) {
    const Kernel& one = kernels_[k];
    sums[k] += CompatLogPdf((place - one.shape.mu) / one.shape.sigma) -
               one.log_box - one.log_sigma;
  }
}

const std::vector<double>& CompatCells::LogMasses(double value) {
  std::vector<double>& masses = log_masses_[value];
  if (!masses.empty()) return masses;
  const double left = range_.ToBox(value - range_.step / 2.0);
  const double right = range_.ToBox(value + range_.step / 2.0);
  masses.reserve(shapes_.size());
  for (const NumericKernel& shape : shapes_) {
    masses.push_back(CompatLogMass((left - shape.mu) / shape.sigma,
                                   (right - shape.mu) / shape.sigma));
  }
  return masses;
}

void CompatCells::AddLogDensity(double value, std::span<double> sums) {
  const std::vector<double>& masses = LogMasses(value);
  for (std::size_t k = 0; k < sums.size(); ++k) {
    sums[k] = sums[k] + masses[shape_of_[k]] - log_box_[shape_of_[k]];
  }
}

CompatChoices::CompatChoices(std::size_t choices,
                             const std::vector<double>& observed) {
  if (observed.empty()) {
    rows_.assign(
        1, std::vector<double>(choices, 1.0 / static_cast<double>(choices)));
    row_of_ = {0};
    return;
  }
  const double floor = 1.0 / static_cast<double>(observed.size() + 1);
  rows_.assign(choices + 1, std::vector<double>(choices, floor));
  for (std::size_t c = 0; c < choices; ++c) rows_[c][c] += 1.0;
  for (std::vector<double>& row : rows_) {
    const double sum = NumpySum(row);
    for (double& probability : row) probability /= sum;
  }
  row_of_.reserve(observed.size() + 1);
  for (const double choice : observed) {
    row_of_.push_back(static_cast<std::size_t>(choice));
  }
  row_of_.push_back(choices);
}

double CompatChoices::Draw(std::size_t kernel, double u) const {
  const std::vector<double>& row = rows_[row_of_[kernel]];
  double up_to = 0.0;
  for (std::size_t c = 0; c + 1 < row.size(); ++c) {
    up_to += row[c];
    if (up_to >= u) return static_cast<double>(c);
  }
  return static_cast<double>(row.size() - 1);
}

void CompatChoices::AddLogDensity(double choice, std::span<double> sums) const {
  const auto c = static_cast<std::size_t>(choice);
  std::vector<double> logs;
  logs.reserve(rows_.size());
  for (const std::vector<double>& row : rows_) logs.push_back(std::log(row[c]));
  for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += logs[row_of_[k]];
}

namespace {

double LogSumExp(std::vector<double>& terms) {
  const double most = *std::max_element(terms.begin(), terms.end());
  const double shift = std::isinf(most) ? 0.0 : most;
  for (double& term : terms) term = std::exp(term - shift);
  return std::log(NumpySum(terms)) + shift;
}

std::vector<std::size_t> DrawKernels(const std::vector<double>& weights,
                                     std::size_t count, NumpyStream& stream) {
  std::vector<double> up_to(weights.size());
  std::partial_sum(weights.begin(), weights.end(), up_to.begin());
  const double all = up_to.back();
  for (double& sum : up_to) sum /= all;
  std::vector<std::size_t> kernels;
  kernels.reserve(count);
  for (const double u : stream.Uniforms(count)) {
    const auto found = std::upper_bound(up_to.begin(), up_to.end(), u);
    kernels.push_back(static_cast<std::size_t>(found - up_to.begin()));
  }
  return kernels;
}

}  // namespace

CompatMixture::CompatMixture(const std::vector<const Domain*>& domains,
                             const Columns& observed,
                             std::vector<double> weights, KernelWidth width)
    : weights_(std::move(weights)) {
  weights_.push_back(1.0);
  const double sum = NumpySum(weights_);
  for (double& weight : weights_) weight /= sum;
  for (std::size_t d = 0; d < domains.size(); ++d) {
    Axis& axis = axes_.emplace_back();
    if (const auto* choices = std::get_if<Categorical>(domains[d])) {
      axis.choices.emplace(choices->choices.size(), observed[d]);
      continue;
    }
    axis.range = *NumericRangeOf(*domains[d]);
    axis.kernels =
        FitCompatKernels(axis.range, observed[d], width, domains.size());
    if (axis.range.step > 0.0) {
      axis.cells.emplace(axis.range, axis.kernels);
    } else {
      axis.line.emplace(axis.range, axis.kernels);
    }
  }
}

Columns CompatMixture::Draw(std::size_t count, NumpyStream& stream) const {
  const std::vector<std::size_t> kernels = DrawKernels(weights_, count, stream);
  Columns candidates(axes_.size(), std::vector<double>(count));
  for (std::size_t d = 0; d < axes_.size(); ++d) {
    if (!axes_[d].choices.has_value()) continue;
    for (std::size_t c = 0; c < count; ++c) {
      candidates[d][c] = axes_[d].choices->Draw(kernels[c], stream.Uniform());
    }
  }
  DrawNumeric(kernels, stream, candidates);
  return candidates;
}

void CompatMixture::DrawNumeric(const std::vector<std::size_t>& kernels,
                                NumpyStream& stream,
                                Columns& candidates) const {
  std::vector<CompatQuantile> quantiles;
  for (const Axis& axis : axes_) {
    if (axis.choices.has_value()) continue;
    for (const std::size_t k : kernels) {
      const auto [mu, sigma] = axis.kernels[k];
      quantiles.push_back({stream.Uniform(), (axis.range.box_lo - mu) / sigma,
                           (axis.range.box_hi - mu) / sigma});
    }
  }
  const std::vector<double> places = CompatPpf(quantiles);
  auto place = places.begin();
  for (std::size_t d = 0; d < axes_.size(); ++d) {
    const Axis& axis = axes_[d];
    if (axis.choices.has_value()) continue;
    for (std::size_t c = 0; c < kernels.size(); ++c) {
      const auto [mu, sigma] = axis.kernels[kernels[c]];
      candidates[d][c] = axis.range.FromBox(*place++ * sigma + mu);
    }
  }
}

std::vector<double> CompatMixture::LogDensity(const Columns& candidates) {
  const std::size_t count = candidates.empty() ? 0 : candidates[0].size();
  std::vector<double> densities(count), sums(weights_.size());
  std::vector<double> continuous(weights_.size());
  for (std::size_t c = 0; c < count; ++c) {
    std::fill(sums.begin(), sums.end(), 0.0);
    std::fill(continuous.begin(), continuous.end(), 0.0);
    for (std::size_t d = 0; d < axes_.size(); ++d) {
      const double value = candidates[d][c];
      Axis& axis = axes_[d];
      if (axis.choices.has_value()) {
        axis.choices->AddLogDensity(value, sums);
      } else if (axis.cells.has_value()) {
        axis.cells->AddLogDensity(value, sums);
      } else {
        axis.line->AddLogDensity(value, continuous);
      }
    }
    for (std::size_t k = 0; k < sums.size(); ++k) {
      sums[k] = sums[k] + continuous[k] + std::log(weights_[k]);
    }
    densities[c] = LogSumExp(sums);
  }
  return densities;
}

}  // namespace frostline::sampler
