// SPDX-License-Identifier: Apache-2.0
#include "sampler/optuna/compat_mixture.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "sampler/optuna/compat_normal.h"
#include "sampler/optuna/numpy_sum.h"

namespace frostline::sampler {
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
