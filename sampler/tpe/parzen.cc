// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/parzen.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace frostline {
namespace {

constexpr std::size_t kRemembered = 25;

double LogSumExp(const std::vector<double>& terms) {
  const double largest = *std::max_element(terms.begin(), terms.end());
  if (!std::isfinite(largest)) return largest;
  double sum = 0.0;
  for (const double term : terms) sum += std::exp(term - largest);
  return largest + std::log(sum);
}

std::vector<std::unique_ptr<KernelAxis>> FitAxes(
    const std::vector<const Domain*>& domains, const Columns& observed,
    double frozen_share) {
  std::vector<std::unique_ptr<KernelAxis>> axes;
  axes.reserve(domains.size());
  for (std::size_t d = 0; d < domains.size(); ++d) {
    axes.push_back(FitAxis(*domains[d], observed[d], frozen_share));
  }
  return axes;
}

}  // namespace

std::vector<double> FitWeights(std::size_t observations, Recency recency) {
  std::vector<double> weights(observations + 1, 1.0);
  if (recency == Recency::kForget && observations > kRemembered) {
    const std::size_t old = observations - kRemembered;
    const double first = 1.0 / static_cast<double>(observations);
    // A ramp from 1/n to 1; a ramp of one step is its beginning.
    const double steps = static_cast<double>(std::max<std::size_t>(old - 1, 1));
    for (std::size_t i = 0; i < old; ++i) {
      weights[i] = first + (1.0 - first) * (static_cast<double>(i) / steps);
    }
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= sum;
  return weights;
}

ParzenMixture::ParzenMixture(const std::vector<const Domain*>& domains,
                             const Columns& observed, Recency recency,
                             double frozen_share)
    : ParzenMixture(
          FitAxes(domains, observed, frozen_share),
          FitWeights(observed.empty() ? 0 : observed[0].size(), recency)) {}

ParzenMixture::ParzenMixture(std::vector<std::unique_ptr<KernelAxis>> axes,
                             std::vector<double> weights)
    : axes_(std::move(axes)), weights_(std::move(weights)) {
  log_weights_.reserve(weights_.size());
  for (const double weight : weights_) log_weights_.push_back(std::log(weight));
}

Columns ParzenMixture::Draw(int count, Rng& rng) const {
  std::vector<double> up_to(weights_.size());
  std::partial_sum(weights_.begin(), weights_.end(), up_to.begin());
  const auto n = static_cast<std::size_t>(count);
  std::vector<std::size_t> kernels(n);
  for (std::size_t& kernel : kernels) {
    const double u = rng.Uniform() * up_to.back();
    const auto found = std::upper_bound(up_to.begin(), up_to.end(), u);
    kernel = std::min(static_cast<std::size_t>(found - up_to.begin()),
                      weights_.size() - 1);
  }
  Columns candidates(axes_.size(), std::vector<double>(n));
  for (std::size_t d = 0; d < axes_.size(); ++d) {
    for (std::size_t c = 0; c < n; ++c) {
      candidates[d][c] = axes_[d]->Draw(kernels[c], rng);
    }
  }
  return candidates;
}

std::vector<double> ParzenMixture::LogDensity(const Columns& candidates) {
  const std::size_t count = candidates.empty() ? 0 : candidates[0].size();
  std::vector<double> densities(count);
  std::vector<double> sums;
  for (std::size_t c = 0; c < count; ++c) {
    sums = log_weights_;
    for (std::size_t d = 0; d < axes_.size(); ++d) {
      axes_[d]->AddLogDensity(candidates[d][c], sums);
    }
    densities[c] = LogSumExp(sums);
  }
  return densities;
}

}  // namespace frostline
