// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/freeze_axis.h"

#include <algorithm>
#include <cmath>

namespace frostline {
namespace {

std::vector<double> RatesOf(const std::vector<double>& observed) {
  std::vector<double> rates;
  std::copy_if(observed.begin(), observed.end(), std::back_inserter(rates),
               [](double value) { return value != 0.0; });
  return rates;
}

}  // namespace

FreezeAxis::FreezeAxis(const NumericRange& rates,
                       const std::vector<double>& observed, double frozen_share)
    : rates_(rates, FitKernels(rates, RatesOf(observed))) {
  const std::size_t kernels = observed.size() + 1;
  const auto frozen = static_cast<std::size_t>(
      std::count(observed.begin(), observed.end(), 0.0));
  const std::size_t prior = observed.size() - frozen;  // last kernel of rates_
  const double floor = 1.0 / static_cast<double>(kernels);
  std::size_t next_rate = 0;
  for (const double value : observed) {
    const bool is_frozen = value == 0.0;
    rate_kernel_.push_back(is_frozen ? prior : next_rate++);
    frozen_.push_back(((is_frozen ? 1.0 : 0.0) + floor * frozen_share) /
                      (1.0 + floor));
  }
  rate_kernel_.push_back(prior);
  frozen_.push_back(frozen_share);
  scratch_.resize(prior + 1);
}

double FreezeAxis::Draw(std::size_t kernel, Rng& rng) const {
  if (rng.Uniform() < frozen_[kernel]) return 0.0;
  return rates_.Draw(rate_kernel_[kernel], rng);
}

void FreezeAxis::AddLogDensity(double value, std::span<double> sums) {
  if (value == 0.0) {
    for (std::size_t k = 0; k < sums.size(); ++k)
      sums[k] += std::log(frozen_[k]);
    return;
  }
  std::fill(scratch_.begin(), scratch_.end(), 0.0);
  rates_.AddLogDensity(value, scratch_);
  for (std::size_t k = 0; k < sums.size(); ++k) {
    sums[k] += std::log1p(-frozen_[k]) + scratch_[rate_kernel_[k]];
  }
}

}  // namespace frostline
