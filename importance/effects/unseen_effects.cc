// SPDX-License-Identifier: Apache-2.0
#include "importance/effects/unseen_effects.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace frostline::importance {
namespace {

constexpr int kTries = 64;

double NormalBelow(double z) {
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

}  // namespace

// Residuals are smaller than noise is, by what went into the coefficients.
UnseenEffects::UnseenEffects(const LevelEffects& model) {
  double squares = 0.0;
  for (const LeftOutTerm& one : model.left_out()) {
    variance_ += one.evidence.variance;
    squares += one.evidence.deviation * one.evidence.deviation;
  }
  const double seen = model.ridge().ResidualVariance();
  const double scale = seen > 0.0 ? model.ridge().noise() / seen : 1.0;
  variance_ *= scale;
  deviation_ = std::sqrt(squares) * scale;
  most_ = model.ridge().noise();
  WeighNone();
}

void UnseenEffects::WeighNone() {
  if (!(deviation_ > 0.0) || !(most_ > 0.0)) return;
  const double at = variance_ / deviation_;
  const double spike = std::exp(-0.5 * at * at) /
                       (deviation_ * std::sqrt(2.0 * std::numbers::pi));
  const double slab =
      (NormalBelow(most_ / deviation_ - at) - NormalBelow(-at)) / most_;
  if (spike + slab > 0.0) none_ = spike / (spike + slab);
}

double UnseenEffects::Expected() const {
  return std::clamp(variance_, 0.0, most_) * (1.0 - none_);
}

double UnseenEffects::Draw(Rng& rng) const {
  if (rng.Uniform() < none_) return 0.0;
  double drawn = variance_;
  for (int i = 0; i < kTries; ++i) {
    drawn = variance_ + deviation_ * rng.Normal();
    if (drawn >= 0.0 && drawn <= most_) break;
  }
  return std::clamp(drawn, 0.0, most_);
}

}  // namespace frostline::importance
