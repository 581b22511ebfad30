// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/choice_axis.h"

#include <cmath>

namespace frostline {

ChoiceAxis::ChoiceAxis(std::size_t choices, const std::vector<double>& observed)
    : choices_(choices), observed_(observed) {
  const double floor = 1.0 / static_cast<double>(observed.size() + 1);
  const double sum = 1.0 + floor * static_cast<double>(choices);
  seen_ = (1.0 + floor) / sum;
  other_ = floor / sum;
}

double ChoiceAxis::Draw(std::size_t kernel, Rng& rng) const {
  const double u = rng.Uniform();
  const bool is_prior = kernel >= observed_.size();
  const double uniform = 1.0 / static_cast<double>(choices_);
  const std::size_t own =
      is_prior ? 0 : static_cast<std::size_t>(observed_[kernel]);
  double below = 0.0;
  for (std::size_t c = 0; c + 1 < choices_; ++c) {
    below += is_prior ? uniform : c == own ? seen_ : other_;
    if (u < below) return static_cast<double>(c);
  }
  return static_cast<double>(choices_ - 1);
}

void ChoiceAxis::AddLogDensity(double value, std::span<double> sums) {
  const double log_seen = std::log(seen_);
  const double log_other = std::log(other_);
  for (std::size_t k = 0; k < observed_.size(); ++k) {
    sums[k] += observed_[k] == value ? log_seen : log_other;
  }
  sums[observed_.size()] -= std::log(static_cast<double>(choices_));
}

}  // namespace frostline
