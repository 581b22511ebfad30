// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace frostline::trainer {

double Schedule::FactorAt(std::int64_t step) const {
  if (step < warmup_steps) {
    return static_cast<double>(step) / static_cast<double>(warmup_steps);
  }
  if (kind == ScheduleKind::kConstant) return 1.0;
  const auto rest = static_cast<double>(
      std::max<std::int64_t>(1, total_steps - warmup_steps));
  if (kind == ScheduleKind::kLinear) {
    return std::max(0.0, static_cast<double>(total_steps - step) / rest);
  }
  const double done = static_cast<double>(step - warmup_steps) / rest;
  if (done >= 1.0) return 0.0;
  return 0.5 * (1.0 + std::cos(std::numbers::pi * done));
}

double Schedule::SumOfFactors() const {
  double sum = 0.0;
  for (std::int64_t step = 0; step < total_steps; ++step) {
    sum += FactorAt(step);
  }
  return sum;
}

std::int64_t WarmupSteps(double share, std::int64_t total_steps) {
  return static_cast<std::int64_t>(
      std::ceil(share * static_cast<double>(total_steps)));
}

}  // namespace frostline::trainer
